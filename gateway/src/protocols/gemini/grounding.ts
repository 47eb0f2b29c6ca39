import { bounds, type Citation } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, countOf, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { documentCitationDropped, spanIn, spanOf, urlCitation } from "../turn/citations.ts";
import { warnOfUnknownType, warnOfUnreadMembers } from "../turn/warnings.ts";

/**
 * Reads sources as citations. Google counts segments in bytes of a part; `partStarts` are the parts' offsets in characters. Source:
 * @google/genai, GroundingMetadata, CitationMetadata.
 */
export function readGrounding(
  grounding: JsonObject,
  citation: JsonObject,
  text: string,
  partStarts: readonly number[],
  warn: Warn,
): Citation[] {
  warnOfUnreadMembers(grounding, groundingMembers, "groundingMetadata", warn);
  const chunks = arrayOf(grounding["groundingChunks"]).map((chunk) => sourceOf(objectOf(chunk), warn));
  const supports = arrayOf(grounding["groundingSupports"]).flatMap((value) => {
    const support = objectOf(value);
    const segment = objectOf(support["segment"]);
    const from = partStarts[countOf(segment["partIndex"]) ?? 0] ?? 0;
    const span = spanInText(text, from, countOf(segment["startIndex"]) ?? 0, countOf(segment["endIndex"]) ?? 0);
    return arrayOf(support["groundingChunkIndices"]).flatMap((index) => {
      const source = chunks[Number(index)] ?? null;
      return source === null ? [] : [{ ...source, span }];
    });
  });
  const cited = supports.length > 0 ? supports : chunks.flatMap((chunk) => chunk ?? []);
  return [...cited, ...readRecitations(citation, warn)].slice(0, bounds.blockCitationsMax);
}

/** Passages that the model recited. */
function readRecitations(metadata: JsonObject, warn: Warn): Citation[] {
  return arrayOf(metadata["citations"] ?? metadata["citationSources"]).flatMap((value) => {
    const cited = objectOf(value);
    warnOfUnreadMembers(cited, citationMembers, "a citation", warn);
    const span = spanOf(cited["startIndex"] ?? 0, cited["endIndex"]);
    const source = urlCitation(textOf(cited["uri"]), textOf(cited["title"]), { span });
    if (source === null) warn(sourceWithoutUrl);
    return source ?? [];
  });
}

const groundingMembers: ReadonlySet<string> = new Set([
  "groundingChunks",
  "groundingSupports",
  "webSearchQueries",
  "retrievalQueries",
  "retrievalMetadata",
]);
const citationMembers: ReadonlySet<string> = new Set(["startIndex", "endIndex", "uri", "title"]);

function sourceOf(chunk: JsonObject, warn: Warn): Citation | null {
  for (const name of ["web", "retrievedContext", "maps"]) {
    if (chunk[name] === undefined) continue;
    const { uri, title, text } = objectOf(chunk[name]);
    const source = urlCitation(textOf(uri), textOf(title), { quote: textOf(text) });
    if (source === null) warn(sourceWithoutUrl);
    return source;
  }
  warnOfUnknownType("sources", Object.keys(chunk)[0], warn);
  return null;
}

const sourceWithoutUrl = "a source without an address was dropped";

/** Converts bytes after `from` to characters of the whole text. */
function spanInText(text: string, from: number, startByte: number, endByte: number): Citation["span"] {
  const bytes = Buffer.from(text.slice(from));
  const charactersTo = (byte: number): number => from + bytes.toString("utf8", 0, byte).length;
  return endByte < startByte ? null : { start: charactersTo(startByte), end: charactersTo(endByte) };
}

/** `fromByte`: the text's offset in its part. */
export interface CitedText {
  readonly text: string;
  readonly partIndex: number;
  readonly fromByte: number;
  readonly citations: readonly Citation[];
}

/** Null without citations. */
export function writeGrounding(citedTexts: readonly CitedText[], warn: Warn): JsonObject | null {
  const groundingChunks: JsonObject[] = [];
  const groundingSupports: JsonObject[] = [];
  const indexByUrl = new Map<string, number>();
  for (const { text, partIndex, fromByte, citations } of citedTexts) {
    for (const citation of citations) {
      const { source } = citation;
      if (source.kind !== "url") {
        warn(documentCitationDropped);
        continue;
      }
      let index = indexByUrl.get(source.url);
      if (index === undefined) {
        index = groundingChunks.length;
        indexByUrl.set(source.url, index);
        const title = source.title === null ? {} : { title: source.title };
        groundingChunks.push({ web: { uri: source.url, ...title } });
      }
      const { start, end } = spanIn(citation, text.length);
      const startIndex = fromByte + Buffer.byteLength(text.slice(0, start));
      const words = text.slice(start, end);
      const endIndex = startIndex + Buffer.byteLength(words);
      const segment = { ...(partIndex === 0 ? {} : { partIndex }), startIndex, endIndex, text: words };
      groundingSupports.push({ segment, groundingChunkIndices: [index] });
    }
  }
  return groundingChunks.length === 0 ? null : { groundingChunks, groundingSupports };
}
