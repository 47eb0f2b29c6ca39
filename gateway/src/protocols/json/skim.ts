import { bounds } from "#core/index.ts";
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  type LongStrings,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  type Span,
  skipSpace,
  stringEnd,
  valueEnd,
} from "./cursor.ts";
import { memberName } from "./names.ts";
import { readSpan } from "./scan.ts";

/**
 * Finds the values of `wanted` top-level members in `bytes[start, end)` without checking the grammar of values, so that megabytes of
 * base64 are skipped by the runtime's search. The last of duplicates counts, as in JSON.parse. Null if this is not a whole object.
 */
export function skimObject(
  bytes: Uint8Array,
  start: number,
  end: number,
  wanted: ReadonlySet<string>,
  onDuplicate?: (name: string) => never,
  longStrings: LongStrings | null = null,
): Map<string, Span> | null {
  let at = skipSpace(bytes, start, end);
  if (bytes[at] !== OPEN_OBJECT) return null;
  const found = new Map<string, Span>();
  const lengths = lengthsOf(wanted);
  at = skipSpace(bytes, at + 1, end);
  if (bytes[at] === CLOSE_OBJECT) return skipSpace(bytes, at + 1, end) === end ? found : null;
  for (;;) {
    if (bytes[at] !== QUOTE) return null;
    const nameEnd = stringEnd(bytes, at, end);
    if (nameEnd > end) return null;
    const name = nameAt(bytes, at, nameEnd, lengths);
    at = skipSpace(bytes, nameEnd, end);
    if (bytes[at] !== COLON) return null;
    const from = skipSpace(bytes, at + 1, end);
    const to = valueEnd(bytes, from, end, longStrings);
    if (to > end) return null;
    if (name !== null && wanted.has(name)) {
      if (onDuplicate !== undefined && found.has(name)) onDuplicate(name);
      found.set(name, { start: from, end: to });
    }
    at = skipSpace(bytes, to, end);
    if (bytes[at] === CLOSE_OBJECT && at < end) return skipSpace(bytes, at + 1, end) === end ? found : null;
    if (bytes[at] !== COMMA || at >= end) return null;
    at = skipSpace(bytes, at + 1, end);
  }
}

/** Spans of the items of a JSON array; null if it is none or has more than `itemsMax`. */
export function skimArray(
  bytes: Uint8Array,
  span: Span,
  itemsMax: number,
  longStrings: LongStrings | null = null,
): Span[] | null {
  const { end } = span;
  let at = skipSpace(bytes, span.start, end);
  if (bytes[at] !== OPEN_ARRAY) return null;
  const items: Span[] = [];
  at = skipSpace(bytes, at + 1, end);
  if (bytes[at] === CLOSE_ARRAY) return items;
  while (items.length < itemsMax) {
    const to = valueEnd(bytes, at, end, longStrings);
    if (to > end) return null;
    items.push({ start: at, end: to });
    at = skipSpace(bytes, to, end);
    if (at >= end) return null;
    if (bytes[at] === CLOSE_ARRAY) return items;
    if (bytes[at] !== COMMA) return null;
    at = skipSpace(bytes, at + 1, end);
  }
  return null;
}

/** The parsed value; null if absent, invalid, or larger than bounds.errorBodyBytesMax. */
export function skimValue(bytes: Uint8Array, span: Span | undefined): unknown {
  if (span === undefined || span.end - span.start > bounds.errorBodyBytesMax) return null;
  try {
    return readSpan(bytes, span) ?? null;
  } catch {
    return null;
  }
}

/** Lengths in bytes. */
const lengthsBySet = new WeakMap<ReadonlySet<string>, readonly boolean[]>();

function lengthsOf(names: ReadonlySet<string>): readonly boolean[] {
  let lengths = lengthsBySet.get(names);
  if (lengths === undefined) {
    const made: boolean[] = [];
    for (const name of names) made[Buffer.byteLength(name)] = true;
    lengths = made;
    lengthsBySet.set(names, lengths);
  }
  return lengths;
}

/** Null if the name's length rules it out or it cannot be decoded. Escaped names are always decoded. */
function nameAt(bytes: Uint8Array, start: number, end: number, lengths: readonly boolean[]): string | null {
  const isEscaped = hasEscape(bytes, start, end);
  if (!isEscaped && lengths[end - start - 2] !== true) return null;
  try {
    return isEscaped ? String(readSpan(bytes, { start, end })) : memberName(bytes, start, end);
  } catch {
    return null;
  }
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end - 1; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}
