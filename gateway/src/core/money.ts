/**
 * Money. Amounts are integer nano-USD (1 USD = 1e9). Prices are integer pico-USD per unit, so that
 * 0.0125 USD per million tokens (12,500 pico-USD a token) stays whole. A number holds integers exactly up
 * to 9.007e15: about 9 million USD in one amount, which configuration checks.
 */
export type NanoUsd = number;
export type PicoUsd = number;

const nanoUsdPerUsd = 1_000_000_000;
const ZERO = 0x30;

/** USD (a configured amount) to nano-USD, rounded to the nearest. */
export function usdToNano(usd: number): NanoUsd {
  return Math.round(usd * nanoUsdPerUsd);
}

export function nanoToUsd(nano: NanoUsd): number {
  return nano / nanoUsdPerUsd;
}

/** Sums of what vendors reported and of our prices for the same calls. Vendors never report zero, so zero means that none reported. */
export function comparedCosts(vendor: NanoUsd, own: NanoUsd) {
  if (vendor === 0) return { vendor_cost_usd: null, own_cost_usd: null };
  return { vendor_cost_usd: nanoToUsd(vendor), own_cost_usd: nanoToUsd(own) };
}

/** USD as a decimal without an exponent, to the last nano-USD. */
export function nanoToUsdText(nano: NanoUsd): string {
  const whole = Math.floor(nano / nanoUsdPerUsd);
  // A one, and the nine digits of the fraction.
  const digits = String(nanoUsdPerUsd + (nano % nanoUsdPerUsd));
  let end = digits.length;
  while (end > 1 && digits.charCodeAt(end - 1) === ZERO) end--;
  return end === 1 ? String(whole) : `${whole}.${digits.slice(1, end)}`;
}

/** USD per million units (how vendors quote tokens) to pico-USD a unit. */
export function usdPerMillionToPico(usd: number): PicoUsd {
  return Math.round(usd * 1_000_000);
}

/** USD per thousand units (how vendors quote searches) to pico-USD a unit. */
export function usdPerThousandToPico(usd: number): PicoUsd {
  return Math.round(usd * 1_000_000_000);
}

/** USD per unit (an image, a second) to pico-USD a unit. */
export function usdPerUnitToPico(usd: number): PicoUsd {
  return Math.round(usd * 1_000_000_000_000);
}
