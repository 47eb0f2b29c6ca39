import { endsAsSecretName } from "./assignments.ts";
import { charClass, isOf } from "./characters.ts";
import { mayBeginToken } from "./credentials.ts";

/**
 * Decides from a text's bytes whether a detector can find anything in it, so that most texts are neither decoded nor searched. It may be
 * wrong only in one direction: a text with a finding is never excluded.
 */

/** Kinds of findings, as bits. `numbers`: personal data with digits. */
export const sought = { credentials: 1, emails: 2, numbers: 4 } as const;

/** Kinds of bytes. Other bytes cannot begin a finding. */
const kindOf = {
  word: 1,
  alpha: 2,
  digit: 3,
  dash: 4,
  sign: 5,
  at: 6,
  plus: 7,
  bracket: 8,
  escape: 9,
  wide: 10,
} as const;
const kinds = new Uint8Array(256);
for (let byte = 0; byte < 128; byte++) {
  if (isOf(charClass.word, byte)) kinds[byte] = isOf(charClass.digit, byte) ? kindOf.digit : kindOf.alpha;
}
kinds["_".charCodeAt(0)] = kindOf.word;
kinds["-".charCodeAt(0)] = kindOf.dash;
kinds[":".charCodeAt(0)] = kindOf.sign;
kinds["=".charCodeAt(0)] = kindOf.sign;
kinds["@".charCodeAt(0)] = kindOf.at;
kinds["+".charCodeAt(0)] = kindOf.plus;
kinds["(".charCodeAt(0)] = kindOf.bracket;
kinds["\\".charCodeAt(0)] = kindOf.escape;
/** First bytes of characters that `visibleText` changes. */
for (const byte of [0xc2, 0xe2, 0xe3, 0xef]) kinds[byte] = kindOf.wide;

/** Escapes of one sign or space. Others may hide any character. */
const simpleEscapes = new Uint8Array(256);
for (const byte of Buffer.from('"\\bfnrt')) simpleEscapes[byte] = 1;

const [space, slash, colon, atSign, backslash, dot, dash, fullWidth] = [32, 47, 58, 64, 92, 46, 45, 0xef];

/** `levels`: how often the text was escaped for JSON, once or twice. */
export function mayFind(wanted: number, bytes: Uint8Array, start: number, end: number, levels: number): boolean {
  for (let at = start; at < end; at++) {
    let kind = kinds[bytes[at] as number] as number;
    if (kind === 0) continue;
    if (kind <= kindOf.digit) {
      if (kind !== kindOf.word && beginsFinding(wanted, bytes, at, end, kind)) return true;
      const wordStart = kind === kindOf.alpha ? at : end;
      do {
        kind = kinds[bytes[++at] as number] as number;
        if (kind === kindOf.digit && isInCode(wanted, bytes, at, at - wordStart)) return true;
      } while (kind !== 0 && kind <= kindOf.digit);
      // The end of the text is the end of a string.
      if (at >= end) return false;
      if (kind === 0) continue;
    }
    if (kind === kindOf.escape) {
      const length = escapeLength(bytes, at, levels);
      if (length === 0) return true;
      at += length - 1;
    } else if (isFindingSign(wanted, bytes, at, end, kind)) return true;
  }
  return false;
}

function beginsFinding(wanted: number, bytes: Uint8Array, at: number, end: number, kind: number): boolean {
  if (kind === kindOf.digit) return beginsNumber(wanted, bytes, at, end);
  return (wanted & sought.credentials) !== 0 && mayBeginToken(bytes, at, end);
}

/** 0: it may hide a character of a finding. */
function escapeLength(bytes: Uint8Array, at: number, levels: number): number {
  const escaped = bytes[at + 1] as number;
  if (simpleEscapes[escaped] !== 1) return 0;
  if (levels === 1 || escaped !== backslash) return 2;
  // A backslash, escaped in JSON, which is a string of JSON: it escapes the next character.
  const next = bytes[at + 2] as number;
  if (next !== backslash) return simpleEscapes[next] === 1 ? 3 : 0;
  return simpleEscapes[bytes[at + 3] as number] === 1 ? 4 : 0;
}

/** A digit in a word: IBANs and some ids begin with `AB12`. `before`: how many characters of the word are before it. */
function isInCode(wanted: number, bytes: Uint8Array, at: number, before: number): boolean {
  if ((wanted & sought.numbers) === 0) return false;
  if (before === 2 || before === 6) return isDigit(bytes[at + 1] as number);
  return before === 1 && isDigit(bytes[at + 6] as number);
}

const separatorsMax = 4;
const dotsMin = 3;

/** Phone numbers, cards, ids and IP addresses: many digits in few groups, or four groups with dots. */
function beginsNumber(wanted: number, bytes: Uint8Array, at: number, end: number): boolean {
  if ((wanted & (sought.numbers | sought.credentials)) === 0) return false;
  // British insurance numbers begin with two capitals and, perhaps, a space.
  const isBritish = bytes[at - 1] === space && isUpper(bytes[at - 2] as number) && isUpper(bytes[at - 3] as number);
  const digitsMin = isBritish ? 6 : 7;
  let digits = 0;
  let separators = 0;
  let dots = 0;
  for (let place = at; place < end; place++) {
    const byte = bytes[place] as number;
    if (isDigit(byte)) {
      if (++digits === digitsMin) return true;
    } else if (byte === fullWidth) return true;
    else if (!isSeparator(byte) || ++separators > separatorsMax) return false;
    else if (byte === dot && ++dots === dotsMin && digits >= dotsMin) return true;
  }
  return false;
}

const phoneBytesMax = 40;
const phoneDigitsMin = 7;

/** A phone number after `+` or in brackets. */
function beginsPhone(bytes: Uint8Array, at: number, end: number): boolean {
  let digits = 0;
  for (let place = at; place < Math.min(end, at + phoneBytesMax); place++) {
    const byte = bytes[place] as number;
    if (isDigit(byte)) {
      if (++digits === phoneDigitsMin) return true;
    } else if (byte === fullWidth) return true;
    else if (!isSeparator(byte)) return false;
  }
  return false;
}

function isFindingSign(wanted: number, bytes: Uint8Array, at: number, end: number, kind: number): boolean {
  switch (kind) {
    case kindOf.at:
      return (wanted & sought.emails) !== 0 && isInEmail(bytes, at);
    case kindOf.plus:
    case kindOf.bracket:
      return (wanted & sought.numbers) !== 0 && beginsPhone(bytes, at + 1, end);
    case kindOf.dash:
      return (wanted & sought.credentials) !== 0 && beginsPrivateKey(bytes, at);
    case kindOf.sign:
      return isSign(wanted, bytes, at, at + 1, end);
    default:
      return isChanged(wanted, bytes, at, end);
  }
}

/** Between two characters of an address, of which the first may be beyond ASCII. */
function isInEmail(bytes: Uint8Array, at: number): boolean {
  const before = bytes[at - 1] as number;
  const after = bytes[at + 1] as number;
  return (isAlpha(after) || isDigit(after)) && (before >= 0x80 || isOf(charClass.email, before));
}

/** `-----B` of `-----BEGIN`. */
function beginsPrivateKey(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 5] === 0x42 && bytes[at + 4] === dash && bytes[at + 1] === dash;
}

/** A sign in an IPv6 address, after the name of a secret, or in a URL before a password. `next`: after the sign. */
function isSign(wanted: number, bytes: Uint8Array, at: number, next: number, end: number): boolean {
  if ((wanted & sought.numbers) !== 0 && endsAddressGroup(bytes, at, bytes[next] as number)) return true;
  if ((wanted & sought.credentials) === 0) return false;
  if (bytes[next] === slash && bytes[next + 1] === slash && hasUserInUrl(bytes, next + 2, end)) return true;
  return endsAsSecretName(bytes, at);
}

/** The first group of an IPv6 address has four digits. */
function endsAddressGroup(bytes: Uint8Array, at: number, next: number): boolean {
  if (!isHex(next) && next !== colon && next !== fullWidth) return false;
  for (let place = at - 4; place < at; place++) if (!isHex(bytes[place] as number)) return false;
  return true;
}

/** Bytes that end the part of a URL which may contain a password: spaces, slash, quotes, angle brackets. */
const urlEnds = new Uint8Array(256);
for (const byte of Buffer.from(" \t\n\r/\"'`<>")) urlEnds[byte] = 1;

function hasUserInUrl(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === atSign) return true;
    if (byte === backslash) return bytes[at + 1] === backslash;
    if (urlEnds[byte] === 1) return false;
  }
  return false;
}

/** Full-width colon and brackets are common in Chinese. Any other character that `visibleText` changes makes a search necessary. */
function isChanged(wanted: number, bytes: Uint8Array, at: number, end: number): boolean {
  const second = bytes[at + 1] as number;
  const third = bytes[at + 2] as number;
  switch (bytes[at]) {
    case 0xc2:
      return second === 0xad;
    case 0xe2:
      return (second === 0x80 && third >= 0x8b && third <= 0x8d) || (second === 0x81 && third === 0xa0);
    case 0xe3:
      return second === 0x80 && third === 0x80;
  }
  if (second === 0xbb) return third === 0xbf;
  if (second === 0xbd) return third >= 0x81 && third <= 0x9a;
  if (second !== 0xbc) return false;
  if (third === 0x9a) return isSign(wanted, bytes, at, at + 3, end);
  if (third === 0x88) return (wanted & sought.numbers) !== 0 && beginsPhone(bytes, at + 3, end);
  return third !== 0x89 && fullWidthSigns[third] === 1;
}

/** By the last byte: U+FF05, U+FF08 to U+FF0B, U+FF0D to U+FF1A, U+FF1D, U+FF20 to U+FF3A and U+FF3F. */
const fullWidthSigns = new Uint8Array(256);
for (const [from, to] of [
  [0x85, 0x85],
  [0x88, 0x8b],
  [0x8d, 0x9a],
  [0x9d, 0x9d],
  [0xa0, 0xba],
  [0xbf, 0xbf],
] as const) {
  fullWidthSigns.fill(1, from, to + 1);
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}

function isUpper(byte: number): boolean {
  return byte >= 65 && byte <= 90;
}

function isAlpha(byte: number): boolean {
  return isUpper(byte & ~32);
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102);
}

/** Space, and the signs from `(` to `/`. */
function isSeparator(byte: number): boolean {
  return byte === space || (byte >= 40 && byte <= 47);
}
