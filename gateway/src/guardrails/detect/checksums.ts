/** Checksums of numbers. Each takes the characters without separators, in the right length. */

/** Weighted sum of the digits. */
function weigh(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * digitAt(digits, index), 0);
}

function digitAt(digits: string, index: number): number {
  return digits.charCodeAt(index) - 48;
}

/** Payment cards, and Swedish personal numbers. */
export function luhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digitAt(digits, digits.length - 1 - index) * (index % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** ISO 7064 mod 97-10 of an IBAN, read from its fifth character. */
export function ibanChecksum(iban: string): boolean {
  let rest = 0;
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

export function chineseResidentId(id: string): boolean {
  const rest = weigh(id, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11;
  return isDate(id.slice(6, 14)) && "10X98765432".charAt(rest) === id.charAt(17).toUpperCase();
}

export function britishNhs(digits: string): boolean {
  const check = 11 - (weigh(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return (check === 11 ? 0 : check) === digitAt(digits, 9);
}

/** ISO 7064 mod 11,10; one of the first ten digits occurs twice or three times. */
export function germanTaxId(digits: string): boolean {
  const different = new Set(digits.slice(0, 10)).size;
  if (digits.startsWith("0") || different < 8 || different > 9) return false;
  let product = 10;
  for (let index = 0; index < 10; index++) {
    const sum = (digitAt(digits, index) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === digitAt(digits, 10);
}

/** `nir`: 13 characters, in Corsica with a letter, and the key. */
export function frenchNir(nir: string): boolean {
  const number = nir.slice(0, 13).replace("2A", "19").replace("2B", "18");
  return 97 - (Number(number) % 97) === Number(nir.slice(13));
}

/** `value`: digits, after X, Y or Z for residents, and the check character. */
export function spanishNif(value: string): boolean {
  const digits = value.slice(0, -1).replace("X", "0").replace("Y", "1").replace("Z", "2");
  return "TRWAGMYFPDXBNJZSQVHLCKE".charAt(Number(digits) % 23) === value.slice(-1);
}

const odd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

export function italianFiscalCode(code: string): boolean {
  let sum = 0;
  for (let index = 0; index < 15; index++) {
    const value = Number.parseInt(code.charAt(index), 36);
    const place = value > 9 ? value - 10 : value;
    sum += index % 2 === 0 ? (odd[place] ?? 0) : place;
  }
  return String.fromCharCode(65 + (sum % 26)) === code.charAt(15);
}

export function dutchBsn(digits: string): boolean {
  return Number(digits) > 0 && weigh(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;
}

/** The month contains the century: 81 to 92 for 1800, 01 for 1900, 21 for 2000 and so on. */
export function polishPesel(digits: string): boolean {
  const month = Number(digits.slice(2, 4)) % 20;
  const day = Number(digits.slice(4, 6));
  return (
    month >= 1 && month <= 12 && day >= 1 && day <= 31 && weigh(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0
  );
}

/** `digits`: ten. The day is 60 higher in coordination numbers. */
export function swedishNumber(digits: string): boolean {
  const month = Number(digits.slice(2, 4));
  const day = Number(digits.slice(4, 6)) % 60;
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && luhn(digits);
}

/** `date`: year, month and day as eight digits. */
function isDate(date: string): boolean {
  const [year, month, day] = [Number(date.slice(0, 4)), Number(date.slice(4, 6)), Number(date.slice(6))];
  const time = new Date(Date.UTC(year, month - 1, day));
  return year >= 1850 && year < 2100 && time.getUTCMonth() === month - 1 && time.getUTCDate() === day;
}
