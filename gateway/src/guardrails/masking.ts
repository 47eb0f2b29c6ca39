import { type Edit, splice } from "#protocols/index.ts";
import type { MaskedBytes } from "./inspect.ts";
import { escapeText } from "./json-text.ts";

/** Replaces ranges of a body; `textFor` returns the text for a range. The rest stays byte for byte. */
export function replaceRanges(
  body: Uint8Array,
  ranges: readonly MaskedBytes[],
  textFor: (range: MaskedBytes) => string,
  more: readonly Edit[] = [],
): Uint8Array {
  if (ranges.length === 0 && more.length === 0) return body;
  const edits = ranges.map((range): Edit => {
    const text = escapeText(textFor(range), range.levels);
    // In a string that holds JSON, its quotes are escaped.
    const quote = range.isBare ? escapeText('"', range.levels - 1) : "";
    return { start: range.start, end: range.end, text: quote + text + quote };
  });
  return splice(
    body,
    [...edits, ...more].sort((a, b) => a.start - b.start),
  );
}
