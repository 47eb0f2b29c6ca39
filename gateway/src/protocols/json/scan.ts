import type { GovernedNames } from "../request/governed-names.ts";
import { asBuffer } from "./bytes.ts";
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
} from "./cursor.ts";
import { decode, escapedClasses, filterIndex, memberName, NameFilter, nameCharactersMax } from "./names.ts";

/** Far more than any vendor's API needs. */
const jsonDepthMax = 128;

/** The bytes are not one JSON object. `offset`: the first byte that cannot be part of it. */
export class JsonInvalid extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at byte ${offset}`);
    this.offset = offset;
  }
}

/** More values or top-level members than allowed. */
export class JsonTooLarge extends JsonInvalid {}

export interface ScanLimits {
  /** Values of all kinds at every depth. */
  readonly values: number;
  /** Top-level members. */
  readonly members: number;
}

/** A member's name differs from a governed one only in case, so another JSON reader could treat them as the same. */
export class JsonCaseVariant extends JsonInvalid {
  /** As written, with escapes decoded. */
  readonly member: string;
  readonly governedName: string;

  constructor(member: string, governedName: string, offset: number) {
    super(`the member "${member}" is another spelling of "${governedName}"`, offset);
    this.member = member;
    this.governedName = governedName;
  }
}

/** Collects what a scan finds at any depth. */
export interface ScanFindings {
  readonly filter: NameFilter;
  /** The filter classes that member names may belong to, as bits. */
  classes: number;
  longStrings: LongStrings | null;
}

const longStringBytesMin = 2 * 1024;
const longStringsMax = 256;

/**
 * Finds the values of `wanted` top-level members and checks the grammar of the whole body (RFC 8259). Throws JsonInvalid, also for a
 * wanted member that occurs twice; JsonCaseVariant for another spelling of a `governed` one; JsonTooLarge beyond `limits`. Adds to
 * `findings`.
 */
export function scanObject(
  bytes: Uint8Array,
  wanted: ReadonlySet<string>,
  governed: GovernedNames | null = null,
  limits: ScanLimits = noLimits,
  findings: ScanFindings | null = null,
): Map<string, Span> {
  const found = new Map<string, Span>();
  const filter = findings === null ? noNames : findings.filter;
  const count: Count = { valuesLeft: limits.values, filter, lengths: filter.lengths, matched: 0, longStrings: null };
  let members = limits.members;
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) throw new JsonInvalid("expected a JSON object", at);
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === CLOSE_OBJECT) {
    at++;
  } else {
    for (;;) {
      if (bytes[at] !== QUOTE) throw new JsonInvalid("expected a member name", at);
      if (--members < 0) throw new JsonTooLarge(`more than ${limits.members} members at the top`, at);
      const nameStart = at;
      at = skipMemberName(bytes, at + 1, count);
      const name = memberName(bytes, nameStart, at);
      at = skipSpace(bytes, at);
      if (bytes[at] !== COLON) throw new JsonInvalid("expected a colon", at);
      const start = skipSpace(bytes, at + 1);
      const end = skipValue(bytes, start, count);
      if (wanted.has(name)) {
        if (found.has(name)) throw new JsonInvalid(`the member "${name}" appears twice`, nameStart);
        found.set(name, { start, end });
      } else if (governed !== null) {
        const governedName = governed.variantOf(name);
        if (governedName !== null) throw new JsonCaseVariant(name, governedName, nameStart);
      }
      at = skipSpace(bytes, end);
      const next = bytes[at];
      if (next === CLOSE_OBJECT) {
        at++;
        break;
      }
      if (next !== COMMA) throw new JsonInvalid("expected a comma or the end of the object", at);
      at = skipSpace(bytes, at + 1);
    }
  }
  at = skipSpace(bytes, at);
  if (at < bytes.length) throw new JsonInvalid("unexpected text after the object", at);
  if (findings !== null) {
    findings.classes |= count.matched;
    findings.longStrings = count.longStrings;
  }
  return found;
}

/** Null if the bytes are not a JSON object. */
export function scanIfObject(bytes: Uint8Array, wanted: ReadonlySet<string>): Map<string, Span> | null {
  try {
    return scanObject(bytes, wanted);
  } catch (thrown) {
    if (thrown instanceof JsonInvalid) return null;
    throw thrown;
  }
}

/** Parses the value at a scanned span. */
export function readSpan(bytes: Uint8Array, { start, end }: Span): unknown {
  return JSON.parse(decode(bytes, start, end));
}

/** Like `readSpan`, but fast for words and short texts. */
export function readScanned(bytes: Uint8Array, span: Span): unknown {
  const { start, end } = span;
  switch (bytes[start]) {
    case 0x74:
      return true;
    case 0x66:
      return false;
    case 0x6e:
      return null;
    case QUOTE:
      return end - start - 2 > nameCharactersMax ? readSpan(bytes, span) : memberName(bytes, start, end);
    default:
      return readSpan(bytes, span);
  }
}

/** The value of a member; null if absent. */
export function valueAt(bytes: Uint8Array, span: Span | undefined): unknown {
  return span === undefined ? null : readSpan(bytes, span);
}

interface Count {
  /** Values that may still follow. */
  valuesLeft: number;
  readonly filter: NameFilter;
  readonly lengths: Int32Array;
  matched: number;
  longStrings: Map<number, number> | null;
}

const noNames = new NameFilter();

const noLimits: ScanLimits = { values: Number.POSITIVE_INFINITY, members: Number.POSITIVE_INFINITY };

function tooManyValues(at: number): JsonTooLarge {
  return new JsonTooLarge("too many values", at);
}

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** Skips a string that is a value. */
function skipText(bytes: Uint8Array, start: number, count: Count): number {
  const end = skipString(bytes, start + 1);
  if (end - start >= longStringBytesMin) {
    count.longStrings ??= new Map();
    if (count.longStrings.size < longStringsMax) count.longStrings.set(start, end);
  }
  return end;
}

/** 1 for bytes that need no escape in a string. */
const plainBytes = new Uint8Array(256).fill(1, 0x20);
plainBytes[QUOTE] = 0;
plainBytes[BACKSLASH] = 0;

/** `from` is after the opening quote; returns the index after the closing one. */
function skipString(bytes: Uint8Array, from: number): number {
  const far = from + farBytes;
  let at = from;
  while (at !== far && plainBytes[bytes[at] as number] === 1) at++;
  if (at === far) at = plainEnd(bytes, at);
  for (;;) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH)
      throw new JsonInvalid(byte === undefined ? "unterminated string" : "control character in a string", at);
    at = skipEscape(bytes, at + 1);
    while (plainBytes[bytes[at] as number] === 1) at++;
  }
}

/** From here on, the runtime's search is faster than a loop. */
const farBytes = 1024;
const chunkBytesMin = 1024;
const chunkBytesMax = 64 * 1024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const special = /[\0-\x1f"\\]/;

/** Index of the first byte from `from` on that is not plain, or the end. */
function plainEnd(bytes: Uint8Array, from: number): number {
  const source = asBuffer(bytes);
  let at = from;
  for (let size = chunkBytesMin; at < bytes.length; size = Math.min(size * 4, chunkBytesMax)) {
    const end = Math.min(at + size, bytes.length);
    const found = source.toString("latin1", at, end).search(special);
    if (found !== -1) return at + found;
    at = end;
  }
  return at;
}

function skipEscape(bytes: Uint8Array, at: number): number {
  if (escapable[bytes[at] as number] === 1) return at + 1;
  if (bytes[at] !== 0x75) throw new JsonInvalid("bad escape", at);
  for (let digit = 1; digit <= 4; digit++) {
    if (!isHex(bytes[at + digit])) throw new JsonInvalid("bad \\u escape", at);
  }
  return at + 5;
}

/** 1 for bytes that may follow a backslash, except u. */
const escapable = new Uint8Array(256);
for (const byte of Buffer.from('"\\/bfnrt')) escapable[byte] = 1;

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function skipValue(bytes: Uint8Array, at: number, count: Count): number {
  const byte = bytes[at];
  if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return skipContainer(bytes, at, count);
  if (--count.valuesLeft < 0) throw tooManyValues(at);
  if (byte === QUOTE) return skipText(bytes, at, count);
  return skipScalar(bytes, at);
}

function skipScalar(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case 0x74:
      return skipWord(bytes, at, TRUE);
    case 0x66:
      return skipWord(bytes, at, FALSE);
    case 0x6e:
      return skipWord(bytes, at, NULL);
    default:
      return skipNumber(bytes, at);
  }
}

function skipWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let index = 1; index < word.length; index++) {
    if (bytes[at + index] !== word[index]) throw new JsonInvalid(`expected ${word}`, at);
  }
  return at + word.length;
}

const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const NULL = Buffer.from("null");

function skipNumber(bytes: Uint8Array, from: number): number {
  let at = from;
  if (bytes[at] === MINUS) at++;
  if (bytes[at] === ZERO) at++;
  else at = skipDigits(bytes, at);
  if (bytes[at] === 0x2e) at = skipDigits(bytes, at + 1);
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at++;
    if (bytes[at] === 0x2b || bytes[at] === MINUS) at++;
    at = skipDigits(bytes, at);
  }
  return at;
}

function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (digits[bytes[at] as number] === 1) at++;
  if (at === from) throw new JsonInvalid("expected a value", from);
  return at;
}

/** 1 for digits. */
const digits = new Uint8Array(256).fill(1, ZERO, NINE + 1);

/** Closing brackets of open containers. Shared, because a scan is synchronous. */
const closers = new Uint8Array(jsonDepthMax);

/** Iterative, so that depth costs no call stack. */
function skipContainer(bytes: Uint8Array, from: number, count: Count): number {
  let depth = 0;
  let at = from;
  let { valuesLeft } = count;
  for (;;) {
    // A value begins at `at`.
    if (--valuesLeft < 0) throw tooManyValues(at);
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipText(bytes, at, count);
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (depth === jsonDepthMax) throw new JsonInvalid("nested too deeply", at);
      const closer = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
      closers[depth++] = closer;
      at = skipSpace(bytes, at + 1);
      if (bytes[at] !== closer) {
        if (closer === CLOSE_OBJECT) at = skipName(bytes, at, count);
        continue;
      }
      at++;
      depth--;
    } else {
      at = skipScalar(bytes, at);
    }
    // A value ended: close containers, or go to the next value.
    for (;;) {
      if (depth === 0) {
        count.valuesLeft = valuesLeft;
        return at;
      }
      at = skipSpace(bytes, at);
      const closer = closers[depth - 1];
      if (bytes[at] === closer) {
        depth--;
        at++;
        continue;
      }
      if (bytes[at] !== COMMA) throw new JsonInvalid("expected a comma or a closing bracket", at);
      at = skipSpace(bytes, at + 1);
      if (closer === CLOSE_OBJECT) at = skipName(bytes, at, count);
      break;
    }
  }
}

/** From a member's name to the start of its value. */
function skipName(bytes: Uint8Array, from: number, count: Count): number {
  if (bytes[from] !== QUOTE) throw new JsonInvalid("expected a member name", from);
  const at = skipSpace(bytes, skipMemberName(bytes, from + 1, count));
  if (bytes[at] !== COLON) throw new JsonInvalid("expected a colon", at);
  return skipSpace(bytes, at + 1);
}

/** Like `skipString`, but matches the name against the filter. */
function skipMemberName(bytes: Uint8Array, from: number, count: Count): number {
  let at = from;
  while (plainBytes[bytes[at] as number] === 1) at++;
  if (bytes[at] !== QUOTE) return matchEscapedName(bytes, from, skipString(bytes, at), count);
  if ((((count.lengths[bytes[from] as number] as number) >>> (at - from)) & 1) === 1) matchName(bytes, from, at, count);
  return at + 1;
}

function matchName(bytes: Uint8Array, from: number, end: number, count: Count): void {
  const second = bytes[from + 1] as number;
  const index = filterIndex(bytes[from] as number, second, bytes[end - 1] as number, end - from);
  count.matched |= count.filter.classes[index] as number;
}

function matchEscapedName(bytes: Uint8Array, from: number, end: number, count: Count): number {
  // Escaped names are rare, and may be an attempt to hide a member.
  count.matched |= escapedClasses(bytes, from - 1, end, count.filter.classes);
  return end;
}
