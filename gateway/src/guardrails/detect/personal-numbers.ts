import type { PersonalDataType } from "@sluice/contract/words";
import {
  britishNhs,
  chineseResidentId,
  dutchBsn,
  frenchNir,
  germanTaxId,
  ibanChecksum,
  italianFiscalCode,
  luhn,
  polishPesel,
  spanishNif,
  swedishNumber,
} from "./checksums.ts";

/** A number or code of a person. At most 50 characters; `shape` looks two characters further. */
export interface NumberRule {
  readonly type: PersonalDataType;
  /** The first character: a digit, or a letter with a digit among the next characters. */
  readonly begins: "digit" | "letter";
  /** Sticky. */
  readonly shape: RegExp;
  /** `value`: without spaces, dashes, dots and slashes. */
  readonly isValid: (value: string) => boolean;
  /** A word that must be in the text before it; the format alone would find too much. */
  readonly context?: RegExp;
}

/** Not within a longer number: no word character, and no sign with a digit. */
const end = "(?![\\w\\u00c0-\\u024f]|[-./]\\d)";

function shape(pattern: string): RegExp {
  return new RegExp(`${pattern}${end}`, "y");
}

const digits = (length: number): RegExp => shape(`\\d{${length}}`);

/** The first three digits that operators have. */
const chineseMobile = "1(?:3\\d|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8\\d|9[0-35-9])";

/** Rules that begin alike, more specific ones first. */
export const numberRules: readonly NumberRule[] = [
  { type: "card", begins: "digit", shape: shape("\\d{4}([ -]?)\\d{4}\\1\\d{4}\\1\\d{4}\\1\\d{1,3}"), isValid: isCard },
  { type: "card", begins: "digit", shape: shape("\\d{4}([ -]?)\\d{4}\\1\\d{4}\\1\\d{4}"), isValid: isCard },
  { type: "card", begins: "digit", shape: shape("\\d{4}([ -]?)\\d{6}\\1\\d{4,5}"), isValid: isCard },
  { type: "card", begins: "digit", shape: shape("\\d{6}[ -]\\d{13}"), isValid: isCard },
  { type: "cn_resident_id", begins: "digit", shape: shape("[1-8]\\d{16}[\\dXx]"), isValid: chineseResidentId },
  {
    type: "cn_mobile",
    begins: "digit",
    shape: shape(`(?:86[ -]?)?${chineseMobile}([ -]?)\\d{4}\\1\\d{4}`),
    isValid: () => true,
  },
  {
    type: "us_ssn",
    begins: "digit",
    shape: shape("\\d{3}([- ])\\d{2}\\1\\d{4}"),
    isValid: isSsn,
  },
  { type: "us_ssn", begins: "digit", shape: digits(9), isValid: isSsn, context: /\b(?:ssn|social.security)/i },
  {
    type: "fr_nir",
    begins: "digit",
    // Written together or with all spaces, and not a part of a table.
    shape: shape(
      `(?<!\\d )[12]( ?)\\d{2}\\1(?:0[1-9]|1[0-2]|[2-9]\\d)\\1(?:\\d{2}|2[AB])\\1\\d{3}\\1\\d{3}\\1\\d{2}(?! \\d)`,
    ),
    isValid: frenchNir,
  },
  {
    type: "se_personnummer",
    begins: "digit",
    shape: shape("(?:19|20)?\\d{6}[-+]\\d{4}"),
    isValid: (value) => swedishNumber(value.replace("+", "").slice(-10)),
  },
  {
    type: "se_personnummer",
    begins: "digit",
    shape: shape("(?:(?:19|20)\\d{2}|\\d{2})\\d{8}"),
    isValid: (value) => swedishNumber(value.slice(-10)),
    context: /person(?:nummer|nr|\.nr)|samordningsnummer/i,
  },
  {
    type: "uk_nhs",
    begins: "digit",
    shape: shape("\\d{3}([ -]?)\\d{3}\\1\\d{4}"),
    isValid: britishNhs,
    context: /\bnhs|national health/i,
  },
  {
    type: "de_tax_id",
    begins: "digit",
    shape: shape("\\d{2} ?\\d{3} ?\\d{3} ?\\d{3}"),
    isValid: germanTaxId,
    context: /steuer|identifikationsnummer|\bidnr|\btax|\btin\b/i,
  },
  { type: "pl_pesel", begins: "digit", shape: digits(11), isValid: polishPesel, context: /pesel/i },
  {
    type: "nl_bsn",
    begins: "digit",
    shape: shape("\\d{4}\\.?\\d{2}\\.?\\d{3}"),
    isValid: dutchBsn,
    context: /\bbsn|burgerservice|sofi/i,
  },
  { type: "es_nif", begins: "digit", shape: shape("\\d{8}-?[A-Z]"), isValid: spanishNif },
  { type: "es_nif", begins: "letter", shape: shape("[XYZ]-?\\d{7}-?[A-Z]"), isValid: spanishNif },
  {
    type: "uk_nino",
    begins: "letter",
    shape: shape("(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\\d{2} ?\\d{2} ?\\d{2} ?[A-D]"),
    isValid: () => true,
  },
  {
    type: "it_fiscal_code",
    begins: "letter",
    shape: shape(
      "(?:[A-Z]{6}\\d{2}[A-EHLMPRST]\\d{2}[A-Z]\\d{3}[A-Z]|[a-z]{6}\\d{2}[a-ehlmprst]\\d{2}[a-z]\\d{3}[a-z])",
    ),
    isValid: (value) => italianFiscalCode(value.toUpperCase()),
  },
];

/** Brands with their lengths. */
const cardBrand =
  /^(?:4\d{15}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|(?:6011|65\d\d|64[4-9]\d)\d{12}(?:\d{3})?|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17})$/;

function isCard(value: string): boolean {
  return cardBrand.test(value) && luhn(value);
}

function isSsn(value: string): boolean {
  return /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(value) && new Set(value).size > 1;
}

/** The length of an IBAN by country. */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 " +
    "FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 " +
    "LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 " +
    "SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

const ibanShape = /[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?|[a-z]{2}\d{2}[a-z0-9]{11,30}/y;

/** The end of the IBAN at this place, or -1. */
export function ibanEnd(text: string, at: number): number {
  ibanShape.lastIndex = at;
  const written = ibanShape.exec(text)?.[0];
  if (written === undefined) return -1;
  const length = ibanLengths[written.slice(0, 2).toUpperCase()];
  if (length === undefined) return -1;
  let iban = "";
  for (let index = 0; index < written.length; index++) {
    const char = written.charAt(index);
    if (char !== " " && char !== "-") iban += char;
    if (iban.length < length) continue;
    const next = text.charAt(at + index + 1);
    return !/[\w\u00c0-\u024f]/.test(next) && ibanChecksum(iban.toUpperCase()) ? at + index + 1 : -1;
  }
  return -1;
}
