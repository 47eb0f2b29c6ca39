/** Bytes of JSON's grammar (RFC 8259). */
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COLON = 0x3a;
export const COMMA = 0x2c;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
/** First byte of `null`. */
export const LOWER_N = 0x6e;

/** A range of bytes, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Index of the first byte that is not white space, or `end`. */
export function skipSpace(bytes: Uint8Array, from: number, end = bytes.length): number {
  let at = from;
  // Mostly there is none.
  while ((bytes[at] as number) <= 0x20 && at < end && isSpace(bytes[at])) at++;
  return at;
}

/** Index of the last byte up to `from` that is not white space. */
export function skipSpaceBack(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at--;
  return at;
}

/** Index of the closing quote of a string whose text begins at `from`, or `end`. */
export function closingQuote(bytes: Uint8Array, from: number, end = bytes.length): number {
  let at = from;
  // Calling the runtime's search costs as much as some forty bytes.
  for (const near = Math.min(at + 40, end); at < near; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  for (let quote = bytes.indexOf(QUOTE, at); quote !== -1 && quote < end; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before--;
    // An even number of backslashes does not escape the quote.
    if ((quote - before) % 2 === 1) return quote;
  }
  return end;
}

/** Ends of the first long strings of a scanned body by their starts, so that other readers skip them without a search. */
export type LongStrings = ReadonlyMap<number, number>;

/** Index after the string that opens at `from`; greater than `end` if it is not closed. */
export function stringEnd(
  bytes: Uint8Array,
  from: number,
  end = bytes.length,
  longStrings: LongStrings | null = null,
): number {
  return longStrings?.get(from) ?? closingQuote(bytes, from + 1, end) + 1;
}

/** Index after the value that begins at `from`; greater than `end` if it does not end. */
export function valueEnd(
  bytes: Uint8Array,
  from: number,
  end = bytes.length,
  longStrings: LongStrings | null = null,
): number {
  let depth = 0;
  let at = from;
  while (at < end) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at, end, longStrings);
      if (depth === 0) return at;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth++;
      at++;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      // The bracket belongs to the enclosing container.
      if (depth === 0) break;
      at++;
      if (--depth === 0) return at;
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) break;
    else at++;
  }
  return depth === 0 && at > from && at < end ? at : end + 1;
}
