import { MalformedMessage } from "./malformed.ts";

/**
 * Header fields in their order: name, value, name, value … Names are in lower case, values without the white space around
 * them. A character is a byte (Latin-1).
 */
export type Fields = readonly string[];

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
/** A control character, a carriage return or a line feed by itself. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const strayPattern = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?:^|[^\r])\n/;
const TAB = 0x09;
const SPACE = 0x20;
const COLON = 0x3a;
/** Not all parsers take a tab beside these; a value that keeps it is refused. */
const framing: ReadonlySet<string> = new Set(["content-length", "transfer-encoding"]);
const knownNamesMax = 1_000;

/** No name that anybody uses is longer; whatever else callers make up is not kept. */
const knownNameLengthMax = 64;

/** A name as it was spelled and in lower case, and what followed it last: most messages have the names of the one before, in their order. */
interface KnownName {
  readonly spelling: string;
  readonly name: string;
  /** What may stand around its value beside spaces. */
  readonly blank: number;
  readonly kept: boolean;
  next: KnownName | null;
}

const knownNames = new Map<string, KnownName>();
const first: KnownName = { spelling: "", name: "", blank: SPACE, kept: true, next: null };

/** Refuses a head in which lines could end in more than one way. Everything below counts on it. */
export function refuseStray(text: string): void {
  if (strayPattern.test(text)) throw new MalformedMessage("syntax", "A control character stands where none may be.");
}

/** The field lines of `text` from `at` to its end; each ends with CR LF. */
export function readFields(text: string, at: number, countMax: number): Fields {
  const fields: string[] = [];
  let before = first;
  while (at < text.length) {
    const end = text.indexOf("\r\n", at);
    const guess = nextAt(before, text, at);
    const colon = guess === null ? text.indexOf(":", at) : at + guess.spelling.length;
    if (colon < 0 || end < 0 || colon > end) throw new MalformedMessage("syntax", "A header field has no colon.");
    if (fields.length >= countMax * 2)
      throw new MalformedMessage("head_too_large", "There are too many header fields.");
    const known = guess ?? readName(text.slice(at, colon));
    if (guess === null && known.kept) before.next = known;
    before = known;
    fields.push(known.name, trimmed(text, colon + 1, end, known.blank));
    at = end + 2;
  }
  return fields;
}

/** The first field of a name in lower case, or null. */
export function fieldOf(fields: Fields, name: string): string | null {
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] === name) return fields[index + 1] ?? null;
  }
  return null;
}

/** Whether a list field (all lines of the name together) has this token, in any case. */
export function hasToken(fields: Fields, name: string, token: string): boolean {
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] !== name) continue;
    const value = fields[index + 1] ?? "";
    if (value.length === token.length && value.toLowerCase() === token) return true;
    if (value.includes(",") && value.split(",").some((one) => one.trim().toLowerCase() === token)) return true;
  }
  return false;
}

/** Whether a field of this name can be written. */
export function isFieldName(name: string): boolean {
  return tokenPattern.test(name);
}

export function isFieldValue(value: string): boolean {
  return valuePattern.test(value);
}

/** The name that followed `before` the last time, if it stands here again; it is a token, so no colon stands before its end. */
function nextAt({ next }: KnownName, text: string, at: number): KnownName | null {
  if (next === null || text.charCodeAt(at + next.spelling.length) !== COLON) return null;
  return text.startsWith(next.spelling, at) ? next : null;
}

function readName(spelling: string): KnownName {
  const known = knownNames.get(spelling);
  if (known !== undefined) return known;
  if (!tokenPattern.test(spelling)) throw new MalformedMessage("syntax", "The name of a header field is not a token.");
  const kept = knownNames.size < knownNamesMax && spelling.length <= knownNameLengthMax;
  // A part of a string keeps all of it.
  const own = kept ? Buffer.from(spelling, "latin1").toString("latin1") : spelling;
  const name = own.toLowerCase();
  const read: KnownName = { spelling: own, name, blank: framing.has(name) ? SPACE : TAB, kept, next: null };
  if (kept) knownNames.set(own, read);
  return read;
}

/** Without the spaces around it, and without `blank`. */
function trimmed(text: string, from: number, to: number, blank: number): string {
  while (from < to && isBlank(text.charCodeAt(from), blank)) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1), blank)) to--;
  return text.slice(from, to);
}

function isBlank(code: number, blank: number): boolean {
  return code === SPACE || code === blank;
}
