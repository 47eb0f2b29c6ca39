/**
 * Money. Amounts are integer nano-USD (1 USD = 1e9). Prices are integer pico-USD per unit, so that
 * 0.0125 USD per million tokens (12,500 pico-USD a token) stays whole. A number holds integers exactly up
 * to 9.007e15: about 9 million USD in one amount, which configuration checks.
 */
export type NanoUsd = number;
export type PicoUsd = number;

const nanoUsdPerUsd = 1_000_000_000;

/** USD (a configured amount) to nano-USD, rounded to the nearest. */
export function usdToNano(usd: number): NanoUsd {
  return Math.round(usd * nanoUsdPerUsd);
}

export function nanoToUsd(nano: NanoUsd): number {
  return nano / nanoUsdPerUsd;
}

/** Sums of what vendors reported and of our prices for the same calls. Vendors never report zero, so zero means that none reported. */
export function comparedCosts(vendor: NanoUsd, own: NanoUsd): ComparedCosts {
  if (vendor === 0) return { vendor_cost_usd: null, own_cost_usd: null };
  return { vendor_cost_usd: nanoToUsd(vendor), own_cost_usd: nanoToUsd(own) };
}

interface ComparedCosts {
  readonly vendor_cost_usd: number | null;
  readonly own_cost_usd: number | null;
}

/** USD as a decimal without an exponent, to the last nano-USD. */
export function nanoToUsdText(nano: NanoUsd): string {
  // Up to fifteen digits a double is written as the decimal that it was made from; below a millionth with an exponent.
  if (nano >= 1_000 && nano < 1e15) return String(nano / nanoUsdPerUsd);
  const fraction = String(nano % nanoUsdPerUsd)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return `${Math.floor(nano / nanoUsdPerUsd)}${fraction === "" ? "" : `.${fraction}`}`;
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
