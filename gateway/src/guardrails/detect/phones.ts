import { charClass, isOf } from "./characters.ts";

/** Phone numbers: with a country code anywhere, national forms only after a word such as `phone`. */

const phoneLengthMax = 40;
const digitsMax = 15;
const nationalDigitsMin = 7;
const internationalDigitsMin = 9;

/** ITU-T E.164 country codes with one or two digits; all others have three. */
const shortCodes = new Set(
  "1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98".split(
    " ",
  ),
);
const longCode = /^(?:2[1-69]|3[578]|42|5[09]|6[789]|8[0578]|9[679])\d/;

/** Digits of a number, and the end of the group in which each count of digits is reached. */
interface Digits {
  readonly digits: string;
  /** Ends of groups of digits, with the number of digits up to there. */
  readonly ends: readonly { readonly end: number; readonly count: number }[];
}

/** `at`: a plus sign. The end of the number, or -1. */
export function internationalPhoneEnd(text: string, at: number): number {
  const { digits, ends } = readDigits(text, at + 1);
  const isNorthAmerican = digits.startsWith("1");
  const hasCountryCode =
    (isNorthAmerican
      ? /^1[2-9]\d\d[2-9]/.test(digits)
      : shortCodes.has(digits.charAt(0)) || shortCodes.has(digits.slice(0, 2))) || longCode.test(digits);
  if (!hasCountryCode) return -1;
  const lengths = isNorthAmerican ? [11, 11] : digits.startsWith("7") ? [11, 11] : [internationalDigitsMin, digitsMax];
  return lastEnd(text, ends, lengths[0] ?? 0, lengths[1] ?? 0);
}

/** `at`: a digit or an opening bracket. The end of the number, or -1. */
export function nationalPhoneEnd(text: string, at: number): number {
  const { ends } = readDigits(text, at);
  const end = lastEnd(text, ends, nationalDigitsMin, digitsMax);
  return end === -1 || notPhone.test(text.slice(at, end)) ? -1 : end;
}

/** Must be in the 28 characters before a national number. */
export const phoneContextLength = 28;
export const phoneContext =
  /phone|\btel\b|mobile|\bmob\b|\bcell\b|\bfax|whatsapp|\bcall (?:me|us|him|her|them)\b|t[eé]l[eé]ph|telefon|tel[eé]fono|m[oó]vil|celular|\bhandy|rufnummer|portable|电话|手机|联系方式|传真|致电|電話|携帯/i;

/** Dates, amounts and addresses of machines. */
const notPhone =
  /^(?:(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d|\d{1,3}(?:\.\d{1,3}){3}|\d+\.\d+)$/;

function lastEnd(text: string, ends: Digits["ends"], min: number, max: number): number {
  const found = ends.findLast(({ count }) => count >= min && count <= max);
  return found === undefined || isOf(charClass.word, text.charCodeAt(found.end)) ? -1 : found.end;
}

function readDigits(text: string, at: number): Digits {
  const limit = Math.min(text.length, at + phoneLengthMax);
  const ends: { end: number; count: number }[] = [];
  let digits = "";
  let signs = 0;
  for (let place = at; place < limit; place++) {
    const code = text.charCodeAt(place);
    if (isOf(charClass.digit, code)) {
      digits += text.charAt(place);
      signs = 0;
      if (!isOf(charClass.digit, text.charCodeAt(place + 1))) ends.push({ end: place + 1, count: digits.length });
    } else if (!isSeparator(code) || ++signs > 2) break;
  }
  return { digits, ends };
}

/** Space, dash, dot, slash and brackets. */
function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46 || code === 47 || code === 40 || code === 41;
}
