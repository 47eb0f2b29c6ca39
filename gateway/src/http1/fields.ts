import { MalformedMessage } from "./malformed.ts";

/** Header fields in their order: name, value, name, value … Names are in lower case, values are trimmed. A character is a byte (Latin-1). */
export type Fields = readonly string[];

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
/** A control character, or a carriage return or line feed without the other. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const strayPattern = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?:^|[^\r])\n/;
const TAB = 0x09;
const SPACE = 0x20;
const COLON = 0x3a;
/** Not all parsers trim tabs from these, so a value with one is refused. */
const framingNames: ReadonlySet<string> = new Set(["content-length", "transfer-encoding"]);
/** Names in the cache. No common name is longer. */
const cachedNamesMax = 1_000;
const cachedNameLengthMax = 64;

/** A name as spelled and in lower case, and the name that followed it last: most messages have the same names in the same order. */
interface CachedName {
  readonly spelling: string;
  readonly name: string;
  /** The character that is trimmed from its value, in addition to spaces. */
  readonly blank: number;
  readonly cached: boolean;
  next: CachedName | null;
}

const cachedNames = new Map<string, CachedName>();
const first: CachedName = { spelling: "", name: "", blank: SPACE, cached: true, next: null };

/** Refuses a head with ambiguous line ends. The functions below rely on it. */
export function refuseStray(text: string): void {
  if (strayPattern.test(text))
    throw new MalformedMessage("syntax", "There is a control character where none is allowed.");
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
    const field = guess ?? readName(text.slice(at, colon));
    if (guess === null && field.cached) before.next = field;
    before = field;
    fields.push(field.name, trimmed(text, colon + 1, end, field.blank));
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

/** Whether a list field, in all its lines, has this token in any case. */
export function hasToken(fields: Fields, name: string, token: string): boolean {
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] !== name) continue;
    const value = fields[index + 1] ?? "";
    if (value.length === token.length && value.toLowerCase() === token) return true;
    if (value.includes(",") && value.split(",").some((one) => one.trim().toLowerCase() === token)) return true;
  }
  return false;
}

/** Whether the name is valid. */
export function isFieldName(name: string): boolean {
  return tokenPattern.test(name);
}

export function isFieldValue(value: string): boolean {
  return valuePattern.test(value);
}

/** The name that followed `before` the last time, if it is at this position again. It is a token, so it contains no colon. */
function nextAt({ next }: CachedName, text: string, at: number): CachedName | null {
  if (next === null || text.charCodeAt(at + next.spelling.length) !== COLON) return null;
  return text.startsWith(next.spelling, at) ? next : null;
}

function readName(spelling: string): CachedName {
  const found = cachedNames.get(spelling);
  if (found !== undefined) return found;
  if (!tokenPattern.test(spelling)) throw new MalformedMessage("syntax", "The name of a header field is not a token.");
  const cached = cachedNames.size < cachedNamesMax && spelling.length <= cachedNameLengthMax;
  // A slice would keep the whole head in memory.
  const own = cached ? Buffer.from(spelling, "latin1").toString("latin1") : spelling;
  const name = own.toLowerCase();
  const read: CachedName = { spelling: own, name, blank: framingNames.has(name) ? SPACE : TAB, cached, next: null };
  if (cached) cachedNames.set(own, read);
  return read;
}

/** Without spaces and `blank` at both ends. */
function trimmed(text: string, from: number, to: number, blank: number): string {
  while (from < to && isBlank(text.charCodeAt(from), blank)) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1), blank)) to--;
  return text.slice(from, to);
}

function isBlank(code: number, blank: number): boolean {
  return code === SPACE || code === blank;
}
