import type { Citation } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, countOf, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { fileCitation, urlCitation } from "../turn/citations.ts";
import { warnOfStranger } from "../turn/warnings.ts";

/** What a text block cites: all of its words rest on each. */
export function readCitations(citations: unknown, warn: Warn): Citation[] {
  return arrayOf(citations).flatMap((citation) => readCitation(objectOf(citation), warn) ?? []);
}

export function readCitation(citation: JsonObject, warn: Warn): Citation | null {
  const quote = textOf(citation["cited_text"]);
  switch (citation["type"]) {
    case "web_search_result_location":
      return urlCitation(textOf(citation["url"]), textOf(citation["title"]), { quote });
    case "search_result_location":
      return urlCitation(textOf(citation["source"]), textOf(citation["title"]), { quote });
    case "char_location":
    case "page_location":
    case "content_block_location": {
      const name = textOf(citation["document_title"]);
      return fileCitation(
        { fileId: textOf(citation["file_id"]), name, index: countOf(citation["document_index"]) },
        { quote },
      );
    }
    default:
      warnOfStranger("citations", citation["type"], warn);
      return null;
  }
}
