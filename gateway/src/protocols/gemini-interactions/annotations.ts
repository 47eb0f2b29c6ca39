import { bounds, type Citation } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, countOf, type JsonObject, objectOf, textOf, withoutNulls } from "../json/value.ts";
import { documentCitationDropped, fileCitation, spanIn, urlCitation } from "../turn/citations.ts";
import { warnOfUnknownType } from "../turn/warnings.ts";

/** Reads annotations of a text as citations. Google counts segments in bytes. Source: @google/genai, URLCitation, FileCitation. */
export function readAnnotations(annotations: unknown, text: string, warn: Warn): Citation[] {
  const bytes = arrayOf(annotations).length === 0 ? null : Buffer.from(text);
  const charactersTo = (byte: number): number => bytes?.toString("utf8", 0, byte).length ?? 0;
  return arrayOf(annotations)
    .slice(0, bounds.blockCitationsMax)
    .flatMap((value) => {
      const annotation = objectOf(value);
      const start = countOf(annotation["start_index"]) ?? 0;
      const end = countOf(annotation["end_index"]);
      const span = end === null || end < start ? null : { start: charactersTo(start), end: charactersTo(end) };
      return citationOf(annotation, span, warn) ?? [];
    });
}

function citationOf(annotation: JsonObject, span: Citation["span"], warn: Warn): Citation | null {
  const { type, url, title, name, file_name, document_uri, source } = annotation;
  switch (type) {
    case "url_citation":
      return urlCitation(textOf(url), textOf(title), { span });
    case "place_citation":
      return urlCitation(textOf(url), textOf(name), { span });
    case "file_citation": {
      const file = textOf(file_name) ?? textOf(document_uri);
      const fileId = textOf(annotation["media_id"]) ?? textOf(document_uri);
      return file === null ? null : fileCitation({ fileId, name: file, index: null }, { span, quote: textOf(source) });
    }
    default:
      warnOfUnknownType("annotations", type, warn);
      return null;
  }
}

/** Citations of a text as annotations. */
export function writeAnnotations(citations: readonly Citation[], text: string, warn: Warn): JsonObject[] {
  return citations.flatMap((citation): JsonObject[] => {
    const { start, end } = spanIn(citation, text.length);
    const from = Buffer.byteLength(text.slice(0, start));
    const range = { start_index: from, end_index: from + Buffer.byteLength(text.slice(start, end)) };
    const { source } = citation;
    if (source.kind === "url") {
      return [
        { type: "url_citation", url: source.url, ...(source.title === null ? {} : { title: source.title }), ...range },
      ];
    }
    const file = withoutNulls({ file_name: source.name, media_id: source.fileId });
    if (Object.keys(file).length > 0) return [{ type: "file_citation", ...file, ...range }];
    warn(documentCitationDropped);
    return [];
  });
}
