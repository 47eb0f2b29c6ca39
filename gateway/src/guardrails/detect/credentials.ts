import { type Detector, type TokenRule, tokenRules } from "#core/index.ts";
import { addAssignment, addBearerToken, addUrlPassword } from "./assignments.ts";
import { charClass, hasVariety, isOf, isWordStart, runEnd } from "./characters.ts";
import { addPrivateKey, pemStart } from "./private-keys.ts";
import { type Matches, scanDetector } from "./scan.ts";

/** Credentials by their format, PEM private keys, and values next to a name such as `password`. */
export function credentialDetector(): Detector {
  return scanDetector(scanCredentials);
}

/** One pass: most characters cost one lookup. */
function scanCredentials(matches: Matches): void {
  const { text } = matches;
  let previous = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = code < kinds.length ? (kinds[code] ?? 0) : 0;
    if (kind > kindOf.word && (kind >= kindOf.dash || previous === 0 || previous >= kindOf.dash)) {
      addAt(matches, at, code, kind);
    }
    previous = kind;
  }
  addOpening(matches);
}

function addAt(matches: Matches, at: number, code: number, kind: number): void {
  const { text } = matches;
  if (kind === kindOf.token) {
    const list = listOf[hashOf(code, text.charCodeAt(at + 1), text.charCodeAt(at + 2))] ?? 0;
    if (list !== 0) addTokens(matches, at, ruleLists[list] ?? []);
  } else if (kind === kindOf.digit) addTelegramToken(matches, at);
  else if (kind === kindOf.bearer) addBearerToken(matches, at);
  else if (kind === kindOf.dash) {
    if (text.startsWith(pemStart, at)) addPrivateKey(matches, at);
  } else {
    if (code === colon && text.startsWith("//", at + 1)) addUrlPassword(matches, at);
    addAssignment(matches, at);
  }
}

/** Kinds of characters that may begin a match. `token`, `digit` and `bearer` count only at the start of a word. */
const kindOf = { word: 1, token: 2, digit: 3, bearer: 4, dash: 5, sign: 6 } as const;
const colon = 58;
const kinds = Uint8Array.from({ length: 0x250 }, (_, code) => (isOf(charClass.word, code) ? kindOf.word : 0));
for (const { starts } of tokenRules) for (const start of starts) kinds[start.charCodeAt(0)] = kindOf.token;
for (const digit of "0123456789") kinds[digit.charCodeAt(0)] = kindOf.digit;
for (const char of "bB") kinds[char.charCodeAt(0)] = kindOf.bearer;
kinds["-".charCodeAt(0)] = kindOf.dash;
for (const sign of ":=") kinds[sign.charCodeAt(0)] = kindOf.sign;

/** By the hash of the first three characters of a start: the index of its rules. */
const listOf = new Uint8Array(1 << 15);
const ruleLists: TokenRule[][] = [[]];
/** Proper beginnings of the starts: a text that ends with one may continue as a credential. */
const openings = new Set<string>();
for (const rule of tokenRules) {
  for (const start of rule.starts) {
    // After a start of two characters, any third.
    const thirds = start.length > 2 ? [start.charCodeAt(2)] : Array.from({ length: 32 }, (_, code) => code);
    for (const third of thirds) addRule(rule, hashOf(start.charCodeAt(0), start.charCodeAt(1), third));
    addOpenings(start);
  }
}
addOpenings(pemStart);
// For `mayBeginToken`.
listOf[hashOf(98, 101, 97)] ||= ruleLists.push([]) - 1;
/** The starts of each list of rules. */
const byteStarts = ruleLists.map((rules) => rules.flatMap(({ starts }) => starts.map((start) => Buffer.from(start))));
const openingMax = Math.max(...[...openings].map(({ length }) => length));

function hashOf(first: number, second: number, third: number): number {
  return ((first & 31) << 10) | ((second & 31) << 5) | (third & 31);
}

function addRule(rule: TokenRule, hash: number): void {
  if (listOf[hash] === 0) listOf[hash] = ruleLists.push([]) - 1;
  const rules = ruleLists[listOf[hash] ?? 0];
  if (rules?.includes(rule) === false) rules.push(rule);
}

function addOpenings(start: string): void {
  for (let length = 1; length < start.length; length++) openings.add(start.slice(0, length));
}

const classOf = { word: charClass.token, dotted: charClass.dotted, path: charClass.path };
/** The number of different characters in a value. Examples such as `xxxx` have fewer. */
const varietyMin = 6;

function addTokens(matches: Matches, at: number, rules: readonly TokenRule[]): void {
  const { text } = matches;
  for (const rule of rules) {
    const start = rule.starts.find((one) => text.startsWith(one, at));
    if (start === undefined || (rule.lengthMax > tokenLengthMax && !isRunStart(text, at))) continue;
    const end = runEnd(text, at + start.length, classOf[rule.chars], rule.lengthMax);
    if (end === text.length && text.length - at <= rule.lengthMax) matches.pending(at);
    rule.shape.lastIndex = at;
    const value = rule.shape.exec(text)?.[0];
    if (value === undefined) continue;
    const body = value.slice(start.length);
    if (!hasVariety(body, varietyMin) || (rule.needsDigit && !/\d/.test(body))) continue;
    matches.add(at, at + value.length, rule.type);
    return;
  }
}

/** Every token has at least this many characters after its start. */
const bodyLengthMin = 10;
const bearer = Buffer.from("bearer");

/** Whether the word at `at` may begin a credential: a token, or the word `bearer`. */
export function mayBeginToken(bytes: Uint8Array, at: number, end: number): boolean {
  const first = bytes[at] as number;
  const list = listOf[hashOf(first, bytes[at + 1] as number, bytes[at + 2] as number)] as number;
  return list !== 0 && beginsToken(bytes, at, end, byteStarts[list] ?? []);
}

function beginsToken(bytes: Uint8Array, at: number, end: number, starts: readonly Uint8Array[]): boolean {
  if (isBearer(bytes, at)) return true;
  for (const start of starts) {
    if (!isStartAt(bytes, at, start)) continue;
    let place = at + start.length;
    const bodyEnd = place + bodyLengthMin;
    while (place < bodyEnd && isOf(charClass.path, bytes[place] as number)) place++;
    if (place === bodyEnd && place <= end) return true;
  }
  return false;
}

function isStartAt(bytes: Uint8Array, at: number, start: Uint8Array): boolean {
  for (let index = 0; index < start.length; index++) if (bytes[at + index] !== start[index]) return false;
  return true;
}

function isBearer(bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < bearer.length; index++) {
    if (((bytes[at + index] as number) | 32) !== bearer[index]) return false;
  }
  return true;
}

/** Longer tokens are read once for each run of their characters, so that a text of many starts takes linear time. */
const tokenLengthMax = 600;

function isRunStart(text: string, at: number): boolean {
  return at === 0 || !isOf(charClass.dotted, text.charCodeAt(at - 1));
}

const telegramToken = /\d{8,10}:AA[\w-]{33}(?![\w-])/y;
const telegramTokenMax = 46;
const telegramOpening = /\d{1,10}(?::(?:A(?:A[\w-]{0,33})?)?)?$/y;

function addTelegramToken(matches: Matches, at: number): void {
  const { text } = matches;
  if (text.length - at <= telegramTokenMax) {
    telegramOpening.lastIndex = at;
    if (telegramOpening.test(text)) matches.pending(at);
  }
  telegramToken.lastIndex = at;
  const value = telegramToken.exec(text)?.[0];
  if (value !== undefined) matches.add(at, at + value.length, "telegram_token");
}

function addOpening(matches: Matches): void {
  const { text } = matches;
  for (let at = Math.max(0, text.length - openingMax); at < text.length; at++) {
    if (!isOpeningPlace(text, at) || !openings.has(text.slice(at))) continue;
    matches.pending(at);
    return;
  }
}

function isOpeningPlace(text: string, at: number): boolean {
  return isWordStart(text, at) || !isOf(charClass.word, text.charCodeAt(at));
}
