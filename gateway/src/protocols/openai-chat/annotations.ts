import type { Citation } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { documentCitationLost, placeIn, spanOf, urlCitation } from "../turn/citations.ts";
import { warnOfStranger } from "../turn/warnings.ts";

/** `annotations` of a message, or of a delta of one. */
export function readAnnotations(message: JsonObject, warn: Warn): Citation[] {
  return arrayOf(message["annotations"]).flatMap((value) => {
    const annotation = objectOf(value);
    if (annotation["type"] !== "url_citation") {
      warnOfStranger("annotations", annotation["type"], warn);
      return [];
    }
    const cited = objectOf(annotation["url_citation"]);
    const span = spanOf(cited["start_index"], cited["end_index"]);
    // OpenRouter tells what stands there as `content`.
    const quote = textOf(cited["content"]);
    return urlCitation(textOf(cited["url"]), textOf(cited["title"]), { span, quote }) ?? [];
  });
}

/** Where the text of a block stands in the message's content. */
export interface TextPlace {
  readonly start: number;
  readonly length: number;
}

/** The dialect cites pages of the web only, and counts from where the content begins. */
export function writeAnnotations(citations: readonly Citation[], place: TextPlace, warn: Warn): JsonObject[] {
  return citations.flatMap((citation) => {
    const { source } = citation;
    if (source.kind !== "url") {
      warn(documentCitationLost);
      return [];
    }
    const { start, end } = placeIn(citation, place.length);
    const url_citation = {
      start_index: place.start + start,
      end_index: place.start + end,
      title: source.title ?? "",
      url: source.url,
    };
    return [{ type: "url_citation", url_citation }];
  });
}
