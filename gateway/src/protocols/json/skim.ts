import { bounds } from "#core/index.ts";
import { readSpan, type Span } from "./scan.ts";

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
  onTwice?: (name: string) => never,
): Map<string, Span> | null {
  let at = skipSpace(bytes, start, end);
  if (bytes[at] !== OPEN_OBJECT) return null;
  const found = new Map<string, Span>();
  const lengths = lengthsOf(wanted);
  at = skipSpace(bytes, at + 1, end);
  if (bytes[at] === CLOSE_OBJECT) return skipSpace(bytes, at + 1, end) === end ? found : null;
  for (;;) {
    const nameEnd = bytes[at] === QUOTE ? stringEnd(bytes, at, end) : -1;
    if (nameEnd === -1) return null;
    const name = mayBeOneOf(bytes, at, nameEnd, lengths) ? memberName(bytes, at, nameEnd) : null;
    at = skipSpace(bytes, nameEnd, end);
    if (bytes[at] !== COLON) return null;
    const from = skipSpace(bytes, at + 1, end);
    const to = valueEnd(bytes, from, end);
    if (to === -1) return null;
    if (name !== null && wanted.has(name)) {
      if (onTwice !== undefined && found.has(name)) onTwice(name);
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
    if (to === -1) return null;
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

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

const decoder = new TextDecoder();

function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    at++;
  }
  return at;
}

/** Index behind the closing quote of the string that opens at `from`; -1 when it does not close before `end`. */
function stringEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from + 1;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1 || quote >= end) return -1;
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before--;
    // An even number of backslashes before it: they escape each other, not the quote.
    if ((quote - before) % 2 === 1) return quote + 1;
    at = quote + 1;
  }
}

/** Index behind the value that begins at `from`; -1 when it does not end before `end`. */
function valueEnd(bytes: Uint8Array, from: number, end: number): number {
  let depth = 0;
  let at = from;
  while (at < end) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at, end);
      if (at === -1) return -1;
      if (depth === 0) return at;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth++;
      at++;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      // At depth 0 the bracket is not the value's: a scalar ends before it.
      if (depth === 0) return at === from ? -1 : at;
      at++;
      if (--depth === 0) return at;
    } else if (depth === 0 && (byte === COMMA || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)) {
      return at === from ? -1 : at;
    } else {
      at++;
    }
  }
  return -1;
}

/** In bytes. */
const knownLengths = new WeakMap<ReadonlySet<string>, readonly boolean[]>();

function lengthsOf(names: ReadonlySet<string>): readonly boolean[] {
  let lengths = knownLengths.get(names);
  if (lengths === undefined) {
    const made: boolean[] = [];
    for (const name of names) made[Buffer.byteLength(name)] = true;
    lengths = made;
    knownLengths.set(names, lengths);
  }
  return lengths;
}

/** By its length: a name costs a text only where it may be one of those. One with an escape may be any. */
function mayBeOneOf(bytes: Uint8Array, start: number, end: number, lengths: readonly boolean[]): boolean {
  if (lengths[end - start - 2] === true) return true;
  for (let at = start + 1; at < end - 1; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

function memberName(bytes: Uint8Array, start: number, end: number): string {
  const text = decoder.decode(bytes.subarray(start + 1, end - 1));
  if (!text.includes("\\")) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}
