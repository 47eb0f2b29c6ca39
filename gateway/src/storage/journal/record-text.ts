import type { LedgerEntry } from "#core/index.ts";
import { encodeRefusal, intentPlaces, objectsPlace, settlementPlaces } from "./journal-record.ts";

const settlementFrom = 1 + Math.max(...Object.values(intentPlaces));
const membersMax = settlementFrom + 1 + Math.max(...Object.values(settlementPlaces));

/** The number of a member in `LedgerRecord`. */
export const inIntent = intentPlaces;
export const inSettlement = Object.fromEntries(
  Object.entries(settlementPlaces).map(([member, place]) => [member, settlementFrom + place]),
) as typeof settlementPlaces;
/** Of the objects of a settlement. */
export const inObjects = settlementFrom + objectsPlace;

const headFrom = intentPlaces.workspaceId;
const headTo = intentPlaces.upstreamDialect + 1;
/** Texts that are remembered for each head. */
const headTexts = 4;

function isInHead(member: number): boolean {
  return member >= headFrom && member < headTo;
}

/** Strings of an intent that follow one another, from its workspace to the dialects: records of the same key often share them. */
export class RecordHead {
  /** With the comma after the last. */
  readonly json: string;
  readonly #starts: readonly number[];
  readonly #same: (text: string) => string;
  readonly #texts: (string | undefined)[] = [];

  constructor(json: string, starts: readonly number[], same: (text: string) => string) {
    this.json = json;
    this.#starts = starts;
    this.#same = same;
  }

  /** Of a member that `isInHead`. */
  text(member: number): string {
    const place = member - headFrom;
    let text = this.#texts[place];
    if (text === undefined) {
      const start = this.#starts[place] ?? 0;
      text = this.#same(textAt(this.json, start));
      this.#texts[place] = text;
    }
    return text;
  }
}

/** Heads that were read before, by a hash. A new one takes the place of another. `max`: a power of two. */
export class RecordHeads {
  readonly #heads: (RecordHead | undefined)[];
  readonly #texts = new Map<string, string>();

  constructor(max = 2 ** 15) {
    this.#heads = new Array(max).fill(undefined);
  }

  at(record: string, start: number): RecordHead {
    const hash = headHash(record, start) & (this.#heads.length - 1);
    const found = this.#heads[hash];
    if (found !== undefined && record.startsWith(found.json, start)) return found;
    const starts: number[] = [];
    let end = start;
    for (let place = headFrom; place < headTo; place++) {
      starts.push(end - start);
      end = afterComma(record, stringEnd(record, end));
    }
    const head = new RecordHead(copied(record.slice(start, end)), starts, this.#same);
    this.#heads[hash] = head;
    return head;
  }

  /** The same string for equal ones, which maps find faster and which takes less memory. */
  readonly #same = (text: string): string => {
    const found = this.#texts.get(text);
    if (found !== undefined) return found;
    if (this.#texts.size >= this.#heads.length * headTexts) this.#texts.clear();
    const own = copied(text);
    this.#texts.set(own, own);
    return own;
  };
}

/** A slice would keep the whole record in memory. */
function copied(text: string): string {
  return ` ${text}`.slice(1);
}

/** Of the end of the key's id, at its usual place, and of what follows. */
function headHash(json: string, start: number): number {
  let hash = 0;
  for (let at = start + 88; at < start + 112; at++) hash = (Math.imul(hash, 31) + json.charCodeAt(at)) | 0;
  return hash ^ (hash >>> 14);
}

/**
 * The JSON of a ledger record, of which single members are read: an intent and its settlement, or a refusal. Only finds where members
 * begin, in a fraction of the time that it takes to parse everything. Durations are whole microseconds.
 */
export class LedgerRecord {
  readonly json: string;
  readonly head: RecordHead;
  /** Where members begin, by `inIntent` and `inSettlement`, except members of the head; 0: absent. */
  readonly #starts = new Int32Array(membersMax);

  constructor(json: string, heads: RecordHeads) {
    this.json = json;
    const headStart = this.#scan(json.indexOf("[", 1) + 1, 0, headFrom);
    this.head = heads.at(json, headStart);
    const intentEnd = this.#scan(headStart + this.head.json.length, headTo, settlementFrom);
    this.#scan(json.indexOf("[", intentEnd) + 1, settlementFrom, membersMax);
  }

  /** Whether the member is absent or null. */
  isNull(member: number): boolean {
    if (isInHead(member)) return false;
    const start = this.#starts[member] ?? 0;
    return start === 0 || this.json.charCodeAt(start) === letterN;
  }

  /** Of a string. */
  text(member: number): string {
    if (isInHead(member)) return this.head.text(member);
    const start = this.#starts[member] ?? 0;
    return textAt(this.json, start);
  }

  textOrNull(member: number): string | null {
    return this.isNull(member) ? null : this.text(member);
  }

  number(member: number): number {
    return numberAt(this.json, this.#starts[member] ?? 0);
  }

  numberOrNull(member: number): number | null {
    return this.isNull(member) ? null : this.number(member);
  }

  /** Of an array of numbers. */
  numbers(member: number): readonly number[] {
    const json = this.json;
    const numbers: number[] = [];
    let at = (this.#starts[member] ?? 0) + 1;
    if (json.charCodeAt(at) === closingBracket) return numbers;
    for (;;) {
      numbers.push(numberAt(json, at));
      at = scalarEnd(json, at);
      if (json.charCodeAt(at) !== comma) return numbers;
      at = afterComma(json, at);
    }
  }

  /** Whether the member is this string, which needs no escapes. */
  is(member: number, text: string): boolean {
    const start = this.#starts[member] ?? 0;
    return this.json.startsWith(text, start + 1) && this.json.charCodeAt(start + 1 + text.length) === quote;
  }

  /** Whether a member outside the head is this JSON of a string or an object, written in the same way. */
  holds(member: number, json: string): boolean {
    return this.json.startsWith(json, this.#starts[member] ?? 0);
  }

  /** Of a member outside the head, as JSON; empty: absent. */
  value(member: number): string {
    const start = this.#starts[member] ?? 0;
    return start === 0 ? "" : this.json.slice(start, valueEnd(this.json, start));
  }

  /** The number of calls. */
  get calls(): number {
    return callsOf(this.json);
  }

  /**
   * Notes where elements of an array begin: the members `from` to `to`. Returns the end of the array, or where the member `headFrom`
   * begins.
   */
  #scan(start: number, from: number, to: number): number {
    const json = this.json;
    const starts = this.#starts;
    let at = start;
    for (let member = from; ; member++) {
      if (member === headFrom) return at;
      if (member < to) starts[member] = at;
      at = valueEnd(json, at);
      const code = json.charCodeAt(at);
      if (code === closingBracket) return at + 1;
      if (code !== comma) throw damaged();
      at = afterComma(json, at);
    }
  }
}

/** Reads a record from its beginning, member by member: for members that every record needs. Methods move to the next member. */
export class RecordReader {
  #json = "";
  /** Where the record's first member, the attempt's id, begins. */
  #first = 0;
  #at = 0;

  open(json: string): void {
    if (json.charCodeAt(json.length - 1) !== closingBracket) throw damaged();
    this.#json = json;
    this.#first = json.indexOf("[", 1) + 1;
    this.#at = this.#first;
  }

  /** A hash of the end of an id, which is random. */
  idHash(): number {
    const json = this.#json;
    const start = this.#at;
    this.skip();
    let hash = 0;
    let at = this.#at - 1;
    while (at > start && json.charCodeAt(at) !== quote) at--;
    for (let left = 8; left > 0 && --at > start; left--) hash = ((hash << 5) ^ (hash >>> 27) ^ json.charCodeAt(at)) | 0;
    return hash;
  }

  number(): number {
    const json = this.#json;
    const start = this.#at;
    const isNegative = json.charCodeAt(start) === minus;
    let at = isNegative ? start + 1 : start;
    let number = 0;
    for (;;) {
      const code = json.charCodeAt(at++);
      if (code >= digit0 && code <= digit9) number = number * 10 + (code - digit0);
      else if (code === comma) break;
      else {
        // Rare: a fraction, an exponent, or the last member.
        this.skip();
        return numberAt(json, start);
      }
    }
    this.#at = json.charCodeAt(at) === space ? at + 1 : at;
    return isNegative ? -number : number;
  }

  isTrue(): boolean {
    const isTrue = this.#json.charCodeAt(this.#at) === letterT;
    this.skip();
    return isTrue;
  }

  /** Whether the string begins with this text, which needs no escapes. */
  begins(text: string): boolean {
    const begins = this.#json.startsWith(text, this.#at + 1);
    this.skip();
    return begins;
  }

  /** Whether there is a string, not null or the end of the array. */
  isText(): boolean {
    return this.#json.charCodeAt(this.#at) === quote;
  }

  /** The sum of an array of numbers, each times its factor. */
  sum(factors: readonly number[]): number {
    const json = this.#json;
    let at = this.#at + 1;
    let sum = 0;
    for (let index = 0; json.charCodeAt(at) !== closingBracket && at < json.length; index++) {
      const factor = factors[index] ?? 0;
      if (factor !== 0) sum += factor * numberAt(json, at);
      at = scalarEnd(json, at);
      if (json.charCodeAt(at) === comma) at = afterComma(json, at);
    }
    this.#at = afterComma(json, at + 1);
    return sum;
  }

  /** Moves to the next member. Returns where this one began. */
  place(): number {
    const at = this.#at;
    this.skip();
    return at;
  }

  /** Whether the record ends with the same string as at this place, which has no escapes; false if it is not a string. */
  endsAs(place: number): boolean {
    const json = this.#json;
    if (json.charCodeAt(place) !== quote || !json.endsWith('"]]')) return false;
    let end = place + 1;
    while (json.charCodeAt(end) !== quote) end++;
    return isSameText(json, place, json.length - 3 - (end - place), end - place + 1);
  }

  head(heads: RecordHeads): RecordHead {
    const head = heads.at(this.#json, this.#at);
    this.#at += head.json.length;
    return head;
  }

  /** Stays at the end of the array. */
  skip(): void {
    const json = this.#json;
    if (json.charCodeAt(this.#at) === closingBracket) return;
    const end = valueEnd(json, this.#at);
    this.#at = json.charCodeAt(end) === comma ? afterComma(json, end) : end;
  }

  /** To the settlement, which begins with the attempt's id again. No string contains an unescaped quote before that id. */
  toSettlement(): void {
    const json = this.#json;
    const length = json.indexOf('"', this.#first + 1) + 1 - this.#first;
    for (let at = json.indexOf('["', this.#at); at >= 0; at = json.indexOf('["', at + 1)) {
      if (!isSameText(json, this.#first, at + 1, length)) continue;
      this.#at = afterComma(json, at + 1 + length);
      return;
    }
    throw damaged();
  }

  calls(): number {
    return callsOf(this.#json);
  }
}

/** Returns a function that makes a record of an entry. */
export function recordMaker(): (entry: LedgerEntry) => LedgerRecord {
  const heads = new RecordHeads(16);
  return (entry) => new LedgerRecord(encodeRefusal(entry), heads);
}

/** The number of calls, which is the last element of the record. */
function callsOf(json: string): number {
  const code = json.charCodeAt(json.length - 2);
  if (code === closingBracket) return 1;
  if (code < digit0 || code > digit9) throw damaged();
  return numberAt(json, json.lastIndexOf(",") + 1);
}

/** The ids of the attempt and the request of a record. */
export function idsIn(json: string): readonly [attemptId: string, requestId: string] {
  const [, attempt, , request] = json.split('"', 4);
  if (attempt === undefined || request === undefined) throw damaged();
  return [attempt, request];
}

function isSameText(json: string, one: number, other: number, length: number): boolean {
  for (let index = 0; index < length; index++) {
    if (json.charCodeAt(one + index) !== json.charCodeAt(other + index)) return false;
  }
  return true;
}

function damaged(): Error {
  return new Error("A ledger record is damaged.");
}

const [quote, comma, space, minus, backslash] = [0x22, 0x2c, 0x20, 0x2d, 0x5c];
const [openingBracket, closingBracket, openingBrace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const [letterN, letterT, digit0, digit9] = [0x6e, 0x74, 0x30, 0x39];

/** PostgreSQL writes a space after commas. */
function afterComma(json: string, at: number): number {
  return json.charCodeAt(at + 1) === space ? at + 2 : at + 1;
}

/** The string that begins with the quote at `start`. */
function textAt(json: string, start: number): string {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) return json.slice(start + 1, at);
    if (code === backslash) return JSON.parse(json.slice(start, stringEnd(json, start))) as string;
  }
  throw damaged();
}

function valueEnd(json: string, start: number): number {
  const code = json.charCodeAt(start);
  if (code === quote) return stringEnd(json, start);
  if (code === letterN) return start + 4;
  return code === openingBracket || code === openingBrace ? nestedEnd(json, start) : scalarEnd(json, start);
}

/** A loop, because `indexOf` takes as long as twenty steps of it, and most strings are short or have many quotes. */
function stringEnd(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at++;
  }
  return json.length;
}

function nestedEnd(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; ) {
    const code = json.charCodeAt(at);
    if (code === quote) at = stringEnd(json, at);
    else {
      at++;
      if (code === openingBracket || code === openingBrace) depth++;
      else if ((code === closingBracket || code === closingBrace) && --depth === 0) return at;
    }
  }
  return json.length;
}

function scalarEnd(json: string, start: number): number {
  for (let at = start; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === comma || code === closingBracket || code === closingBrace) return at;
  }
  return json.length;
}

function numberAt(json: string, start: number): number {
  let at = json.charCodeAt(start) === space ? start + 1 : start;
  const isNegative = json.charCodeAt(at) === minus;
  if (isNegative) at++;
  let number = 0;
  for (;;) {
    const code = json.charCodeAt(at++);
    if (code >= digit0 && code <= digit9) number = number * 10 + (code - digit0);
    else if (code === comma || code === closingBracket) return isNegative ? -number : number;
    // Rare: a fraction or an exponent.
    else return Number(json.slice(start, scalarEnd(json, start)));
  }
}
