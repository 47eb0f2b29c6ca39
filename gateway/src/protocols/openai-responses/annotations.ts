import type { Citation } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { documentCitationLost, fileCitation, placeIn, spanOf, urlCitation } from "../turn/citations.ts";
import { warnOfStranger } from "../turn/warnings.ts";

/** The annotations of a text as citations; those that are none have no neutral form. */
export function readAnnotations(annotations: unknown, warn: Warn): Citation[] {
  return arrayOf(annotations).flatMap((annotation) => readAnnotation(objectOf(annotation), warn) ?? []);
}

function readAnnotation(annotation: JsonObject, warn: Warn): Citation | null {
  switch (annotation["type"]) {
    case "url_citation": {
      const span = spanOf(annotation["start_index"], annotation["end_index"]);
      return urlCitation(textOf(annotation["url"]), textOf(annotation["title"]), { span });
    }
    case "file_citation": {
      // It stands behind the words, and does not say where they begin.
      const at = annotation["index"];
      return fileCitation(fileOf(annotation), { span: spanOf(at, at) });
    }
    case "container_file_citation":
      return fileCitation(fileOf(annotation), { span: spanOf(annotation["start_index"], annotation["end_index"]) });
    default:
      warnOfStranger("annotations", annotation["type"], warn);
      return null;
  }
}

/** A citation of a text of this length, as JSON; null where it cannot be said. */
export function writeAnnotation(citation: Citation, length: number, warn: Warn): string | null {
  const { source } = citation;
  const { start, end } = placeIn(citation, length);
  if (source.kind === "url") {
    const title = source.title ?? "";
    return JSON.stringify({ type: "url_citation", start_index: start, end_index: end, title, url: source.url });
  }
  if (source.fileId === null) {
    warn(documentCitationLost);
    return null;
  }
  return JSON.stringify({ type: "file_citation", file_id: source.fileId, filename: source.name ?? "", index: end });
}

function fileOf(annotation: JsonObject) {
  return { fileId: textOf(annotation["file_id"]), name: textOf(annotation["filename"]), index: null };
}
