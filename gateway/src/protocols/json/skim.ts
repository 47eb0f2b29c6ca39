import { bounds } from "#core/index.ts";
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
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
 * Finds the values of `wanted` top-level members of the JSON object in `bytes[start, end)`, for listening to answers
 * that hold pictures as base64: strings are passed over by the runtime's own search, so that megabytes cost no walk in
 * our code. It trusts the grammar inside values and checks only what it needs to find its way. Of members that stand
 * twice the last counts, as for JSON.parse. null: this is no whole object.
 */
export function skimObject(
  bytes: Uint8Array,
  start: number,
  end: number,
  wanted: ReadonlySet<string>,
  onDuplicate?: (name: string) => never,
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
    const to = valueEnd(bytes, from, end);
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

/** Where the items of the JSON array at `span` stand; null when it is none, or holds more than `itemsMax`. */
export function skimArray(bytes: Uint8Array, span: Span, itemsMax: number): Span[] | null {
  const { end } = span;
  let at = skipSpace(bytes, span.start, end);
  if (bytes[at] !== OPEN_ARRAY) return null;
  const items: Span[] = [];
  at = skipSpace(bytes, at + 1, end);
  if (bytes[at] === CLOSE_ARRAY) return items;
  while (items.length < itemsMax) {
    const to = valueEnd(bytes, at, end);
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

/** The value at a skimmed span; null when it is absent, no JSON, or larger than anything that is looked at. */
export function skimValue(bytes: Uint8Array, span: Span | undefined): unknown {
  if (span === undefined || span.end - span.start > bounds.errorBodyBytesMax) return null;
  try {
    return readSpan(bytes, span) ?? null;
  } catch {
    return null;
  }
}

/** In bytes. */
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

/**
 * The name, where it may be a wanted one by its length: others cost no text. One with an escape may be any; what the runtime
 * cannot read is none.
 */
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
