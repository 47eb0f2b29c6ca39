import type { PersonalDataType } from "@sluice/contract/words";
import ipaddr from "ipaddr.js";
import type { Detector } from "#core/index.ts";
import { charClass, isOf, runStart } from "./characters.ts";
import { ibanEnd, type NumberRule, numberRules } from "./personal-numbers.ts";
import { internationalPhoneEnd, nationalPhoneEnd, phoneContext, phoneContextLength } from "./phones.ts";
import { type Matches, scanDetector } from "./scan.ts";

/** Finds personal data of these types. Numbers with a weak format need a context word before them. */
export function personalDataDetector(types: readonly PersonalDataType[]): Detector {
  const wanted = new Set(types);
  const isDigit = (rule: NumberRule): boolean => rule.begins === "digit";
  const rules = numberRules.filter(({ type }) => wanted.has(type));
  const compiled: Compiled = {
    wanted,
    digitRules: rules.filter(isDigit),
    codeRules: rules.filter((rule) => !isDigit(rule)),
    hasNumbers: types.some((type) => type !== "email"),
    hasCodes: wanted.has("iban") || wanted.has("ip_address") || rules.some((rule) => !isDigit(rule)),
  };
  return scanDetector((matches) => scanPersonalData(matches, compiled));
}

interface Compiled {
  readonly wanted: ReadonlySet<PersonalDataType>;
  readonly digitRules: readonly NumberRule[];
  readonly codeRules: readonly NumberRule[];
  readonly hasNumbers: boolean;
  readonly hasCodes: boolean;
}

/** Kinds of characters that may begin a match. `code` and `digit` count only at the start of a word. */
const kindOf = { word: 1, code: 2, digit: 3, sign: 4 } as const;
const kinds = Uint8Array.from({ length: 0x250 }, (_, code) => {
  if (isOf(charClass.digit, code)) return kindOf.digit;
  if (code < 128 && /[A-Za-z]/.test(String.fromCharCode(code))) return kindOf.code;
  return isOf(charClass.word, code) ? kindOf.word : 0;
});
const [atSign, plus, bracket, colon] = [64, 43, 40, 58];
for (const sign of [atSign, plus, bracket]) kinds[sign] = kindOf.sign;

function scanPersonalData(matches: Matches, compiled: Compiled): void {
  const { text } = matches;
  const { wanted, hasNumbers, hasCodes } = compiled;
  let previous = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = code < kinds.length ? (kinds[code] ?? 0) : 0;
    const isStart = previous === 0 || previous === kindOf.sign;
    previous = kind;
    if (kind < kindOf.code || (kind !== kindOf.sign && !isStart)) continue;
    if (kind === kindOf.code) {
      if (hasCodes) addCode(matches, at, code, compiled);
    } else if (kind === kindOf.digit) {
      if (hasNumbers && !isInNumber(text, at)) addNumber(matches, at, code, compiled);
    } else if (code === atSign) {
      if (wanted.has("email")) addEmail(matches, at);
    } else if (wanted.has("phone") && isOf(charClass.digit, text.charCodeAt(at + 1))) {
      if (code === bracket) addNationalPhone(matches, at);
      else if (isStart) addFound(matches, at, internationalPhoneEnd(text, at), "phone");
    }
  }
  if (wanted.has("email")) addPendingEmail(matches);
  if (hasNumbers) addPendingNumber(matches);
}

/** Part of a longer number, of a name such as `a-1`, or of a path. */
function isInNumber(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const second = text.charCodeAt(at - 2);
  if (before === 46) return isOf(charClass.digit, second);
  return (before === 45 || before === 47) && isOf(charClass.word, second);
}

function addNumber(matches: Matches, at: number, code: number, { wanted, digitRules }: Compiled): void {
  const { text } = matches;
  if (wanted.has("ip_address")) {
    addFound(matches, at, ipv4End(matches, at), "ip_address");
    if (text.charCodeAt(at + 4) === colon && (code === 50 || code === 51)) {
      addFound(matches, at, ipv6End(text, at), "ip_address");
    }
  }
  if (!hasDigits(text, at)) return;
  for (const rule of digitRules) addByRule(matches, at, rule);
  if (wanted.has("phone")) addNationalPhone(matches, at);
}

/** Numbers that identify people have at least this many digits, in few groups. Most numbers in a text are shorter. */
const numberDigitsMin = 7;
const separatorsMax = 4;

function hasDigits(text: string, at: number): boolean {
  let digits = 0;
  let separators = 0;
  for (let place = at; digits < numberDigitsMin; place++) {
    const code = text.charCodeAt(place);
    if (isOf(charClass.digit, code)) digits++;
    else if (!(code === 32 || (code >= 40 && code <= 47)) || ++separators > separatorsMax) return false;
  }
  return true;
}

function addByRule(matches: Matches, at: number, rule: NumberRule): void {
  rule.shape.lastIndex = at;
  const written = rule.shape.exec(matches.text)?.[0];
  if (written === undefined || !rule.isValid(written.replace(/[ \-./]/g, ""))) return;
  if (rule.context?.test(matches.before(at, contextLength)) === false) return;
  matches.add(at, at + written.length, rule.type);
}

const contextLength = 48;

function addCode(matches: Matches, at: number, code: number, { wanted, codeRules }: Compiled): void {
  const { text } = matches;
  const third = text.charCodeAt(at + 2);
  const isThirdDigit = isOf(charClass.digit, third);
  if (isThirdDigit && wanted.has("iban")) addFound(matches, at, ibanEnd(text, at), "iban");
  const mayMatch =
    isThirdDigit ||
    (third === 32 && isOf(charClass.digit, text.charCodeAt(at + 3))) ||
    isOf(charClass.digit, text.charCodeAt(at + 6));
  if (mayMatch) for (const rule of codeRules) addByRule(matches, at, rule);
  if ((code | 32) === 102 && text.charCodeAt(at + 4) === colon && wanted.has("ip_address")) {
    addFound(matches, at, ipv6End(text, at), "ip_address");
  }
}

function addNationalPhone(matches: Matches, at: number): void {
  const end = nationalPhoneEnd(matches.text, at);
  if (end !== -1 && phoneContext.test(matches.before(at, phoneContextLength))) matches.add(at, end, "phone", 1);
}

function addFound(matches: Matches, start: number, end: number, type: PersonalDataType): void {
  if (end !== -1) matches.add(start, end, type);
}

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4 = new RegExp(`${octet}(?:\\.${octet}){3}(?![\\w\\u00c0-\\u024f]|\\.\\d)`, "y");
/** Addresses of the machine itself, and placeholders. */
const noHost = /^(?:0|127)\.|^255\.255\.255\.255$/;
const version = /(?:version|release|build|section|chapter|§|\bver|\brev)[ :=.#]{0,3}$/i;

function ipv4End(matches: Matches, at: number): number {
  ipv4.lastIndex = at;
  const address = ipv4.exec(matches.text)?.[0];
  if (address === undefined || noHost.test(address) || version.test(matches.before(at, 12))) return -1;
  return at + address.length;
}

/** Global and local unicast, with the whole first group: `std::a` is code. */
const ipv6 = /(?:[23][0-9a-f]{3}|f[cde][0-9a-f]{2}):[0-9a-f:]{2,34}(?:\.\d{1,3}){0,3}/iy;

function ipv6End(text: string, at: number): number {
  ipv6.lastIndex = at;
  const written = ipv6.exec(text)?.[0].replace(/(?<!:):$/, "");
  if (written === undefined || !ipaddr.IPv6.isValid(written)) return -1;
  return isOf(charClass.word, text.charCodeAt(at + written.length)) ? -1 : at + written.length;
}

const localMax = 64;
const domainMax = 253;
const domain =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}(?:[a-z]{2,24}|xn--[a-z0-9-]{2,59})(?![\w\u00c0-\u024f@-])/i;
/** A password in a URL is before an at sign too. */
const urlUser = /:\/\/[^\s/@]{0,64}$/;

/** `at`: the at sign. */
function addEmail(matches: Matches, at: number): void {
  const { text } = matches;
  // A bounded copy, so that nothing depends on the text behind it.
  const host = domain.exec(text.slice(at + 1, at + domainMax + 2))?.[0];
  if (host === undefined || host.length > domainMax) return;
  const run = runStart(text, at, charClass.email, localMax + 1);
  let start = run;
  while (start < at && !isOf(charClass.word, text.charCodeAt(start))) start++;
  if (at - run > localMax || start === at || text.charAt(at - 1) === "." || urlUser.test(matches.before(start, 67)))
    return;
  // `git@host` is the name of a repository.
  if (text.slice(start, at) !== "git") matches.add(start, at + 1 + host.length, "email");
}

function addPendingEmail(matches: Matches): void {
  const { text } = matches;
  const domainStart = runStart(text, text.length, charClass.dotted, domainMax + 1);
  const isDomain = text.charCodeAt(domainStart - 1) === atSign;
  const end = isDomain ? domainStart - 1 : text.length;
  const start = runStart(text, end, charClass.email, localMax + 1);
  if (end - start <= localMax) matches.pending(start);
}

/** More than any number, with the characters that follow it. */
const numberMax = 64;
const joinersMax = 3;

/** Goes back over words that may be groups of one number, such as `DE89 3704`. */
function addPendingNumber(matches: Matches): void {
  const { text } = matches;
  const limit = Math.max(0, text.length - numberMax);
  let start = text.length;
  while (start > limit) {
    let wordEnd = start;
    while (wordEnd > limit && isJoiner(text.charCodeAt(wordEnd - 1))) wordEnd--;
    const wordStart = runStart(text, wordEnd, charClass.word, numberMax);
    if (start - wordEnd > joinersMax || wordStart === wordEnd || wordStart < limit) break;
    // A number cannot begin in text that was released, but it can begin after it.
    if (!matches.mayStart(wordStart)) break;
    const isGroup = group.test(text.slice(wordStart, wordEnd));
    if (!isGroup && wordEnd < text.length) break;
    start = wordStart;
    if (!isGroup) break;
  }
  const sign = text.charCodeAt(start - 1);
  matches.pending(sign === plus || sign === bracket ? start - 1 : start);
}

const group = /\d|^(?:[A-Z]{1,4}|[a-f]{1,4})$/;

/** Space, brackets, plus, dash, dot, slash, colon. */
function isJoiner(code: number): boolean {
  return code === 32 || (code >= 40 && code <= 47 && code !== 42 && code !== 44) || code === colon;
}
