import type { HeaderReader } from "#core/index.ts";
import { MalformedMessage } from "./malformed.ts";

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const controlPattern = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const loneReturnPattern = /\r(?!\n)/;
const TAB = 0x09;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
/** Not all parsers trim tabs from these, so a value with one is refused. */
const framingNames: ReadonlySet<string> = new Set(["content-length", "transfer-encoding"]);
/** Names in the cache. No common name is longer. */
const cachedNamesMax = 1_000;
const cachedNameLengthMax = 64;

/**
 * The header fields of a message in their order, read as the runtime's Headers do. Names are in lower case, values are trimmed. A
 * character is a byte (Latin-1). A value is sliced from the head when it is read.
 */
export class Fields implements HeaderReader {
  readonly #text: string;
  readonly #names: readonly string[];
  /** The start and the end of each value in the text. */
  readonly #ends: readonly number[];

  constructor(text: string, names: readonly string[], ends: readonly number[]) {
    this.#text = text;
    this.#names = names;
    this.#ends = ends;
  }

  /** The same fields in another text, which differs only within values. */
  within(text: string): Fields {
    return new Fields(text, this.#names, this.#ends);
  }

  /** The fields with one value in place of each of that name. */
  with(name: string, value: string): Fields {
    const lines = this.list().map(([one, own]) => `${one}:${one === name ? value : own}\r\n`);
    return readFields(lines.join(""), 0, lines.length);
  }

  /** All fields in their order; a name may come again. */
  list(): [name: string, value: string][] {
    return this.#names.map((name, index) => [name, this.#value(index)]);
  }

  get(name: string): string | null {
    let value: string | null = null;
    for (let index = this.#find(name, 0); index >= 0; index = this.#find(name, index + 1)) {
      value = value === null ? this.#value(index) : `${value}, ${this.#value(index)}`;
    }
    return value;
  }

  /** The value of the first field of that name. */
  first(name: string): string | null {
    const index = this.#find(name, 0);
    return index < 0 ? null : this.#value(index);
  }

  has(name: string): boolean {
    return this.#find(name, 0) >= 0;
  }

  hasSeveral(name: string): boolean {
    const index = this.#find(name, 0);
    return index >= 0 && this.#find(name, index + 1) >= 0;
  }

  /** Whether a list field, in all its lines, has this token in any case. */
  hasToken(name: string, token: string): boolean {
    const value = this.get(name)?.toLowerCase();
    if (value === undefined || value === token) return value === token;
    return value.includes(",") && value.split(",").some((one) => one.trim() === token);
  }

  forEach(take: (value: string, name: string) => void): void {
    const names = this.#names;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] ?? "";
      if (names.indexOf(name) < index) continue;
      take(names.indexOf(name, index + 1) < 0 ? this.#value(index) : (this.get(name) ?? ""), name);
    }
  }

  [Symbol.iterator](): Iterator<[string, string]> {
    const entries: [string, string][] = [];
    this.forEach((value, name) => void entries.push([name, value]));
    return entries.values();
  }

  #find(name: string, from: number): number {
    const names = this.#names;
    for (let index = from; index < names.length; index++) if (names[index] === name) return index;
    return -1;
  }

  #value(index: number): string {
    return this.#text.slice(this.#ends[index * 2], this.#ends[index * 2 + 1]);
  }
}

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

/**
 * Refuses a head with a control character, or a carriage return or line feed without the other. The functions below rely on it. Three
 * searches take less than half the time of one pattern.
 */
export function refuseStray(text: string): void {
  if (controlPattern.test(text) || loneReturnPattern.test(text) || hasLoneFeed(text))
    throw new MalformedMessage("syntax", "There is a control character where none is allowed.");
}

function hasLoneFeed(text: string): boolean {
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (text.charCodeAt(at - 1) !== CR) return true;
  }
  return false;
}

/** The field lines of `text` from `at` to its end; each ends with CR LF. */
export function readFields(text: string, at: number, countMax: number): Fields {
  const names: string[] = [];
  const ends: number[] = [];
  let before = first;
  while (at < text.length) {
    const end = text.indexOf("\r", at);
    const guess = nextAt(before, text, at);
    const colon = guess === null ? text.indexOf(":", at) : at + guess.spelling.length;
    if (colon < 0 || end < 0 || colon > end) throw new MalformedMessage("syntax", "A header field has no colon.");
    if (names.length >= countMax) throw new MalformedMessage("head_too_large", "There are too many header fields.");
    const field = guess ?? readName(text.slice(at, colon));
    if (guess === null && field.cached) before.next = field;
    before = field;
    let from = colon + 1;
    let to = end;
    while (from < to && isBlank(text.charCodeAt(from), field.blank)) from++;
    while (to > from && isBlank(text.charCodeAt(to - 1), field.blank)) to--;
    names.push(field.name);
    ends.push(from, to);
    at = end + 2;
  }
  return new Fields(text, names, ends);
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

function isBlank(code: number, blank: number): boolean {
  return code === SPACE || code === blank;
}
