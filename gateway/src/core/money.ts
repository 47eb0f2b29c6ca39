import type { PricedBy } from "@sluice/contract/words";

/**
 * Amounts are integer nano-USD (1 USD = 1e9). Prices are integer pico-USD per unit, so that 0.0125 USD per million tokens (12,500
 * pico-USD a token) is exact. Numbers are exact up to 9.007e15, about 9 million USD, which configuration checks.
 */
export type NanoUsd = number;
export type PicoUsd = number;

const nanoUsdPerUsd = 1_000_000_000;
const zeroCode = 0x30;

/** Rounds to the nearest nano-USD. */
export function usdToNano(usd: number): NanoUsd {
  return Math.round(usd * nanoUsdPerUsd);
}

export function nanoToUsd(nano: NanoUsd): number {
  return nano / nanoUsdPerUsd;
}

/** Sums of vendors' and our costs of the same calls. Vendors never report zero, so zero means that none reported a cost. */
export function comparedCosts(vendor: NanoUsd, own: NanoUsd) {
  if (vendor === 0) return { vendor_cost_usd: null, own_cost_usd: null };
  return { vendor_cost_usd: nanoToUsd(vendor), own_cost_usd: nanoToUsd(own) };
}

/** USD as a decimal without an exponent, exact to the nano-USD. */
export function nanoToUsdText(nano: NanoUsd): string {
  if (nano < 0) return `-${nanoToUsdText(-nano)}`;
  const whole = Math.floor(nano / nanoUsdPerUsd);
  // A one, then the nine digits of the fraction.
  const digits = String(nanoUsdPerUsd + (nano % nanoUsdPerUsd));
  let end = digits.length;
  while (end > 1 && digits.charCodeAt(end - 1) === zeroCode) end--;
  return end === 1 ? String(whole) : `${whole}.${digits.slice(1, end)}`;
}

/** Pico-USD per unit in one USD per million, thousand or single units. Vendors quote tokens by the million, searches by the thousand. */
const picoScales: Readonly<Record<PricedBy, number>> = {
  million: 1_000_000,
  thousand: 1_000_000_000,
  one: 1_000_000_000_000,
};

export function usdToPico(usd: number, by: PricedBy): PicoUsd {
  return Math.round(usd * picoScales[by]);
}

/** How many neighbors of the quotient are tried: near 9,000 USD a unit the nearest number may round to the next pico-USD. */
const neighborsMax = 4;

/** The USD that `usdToPico` converts to exactly the same pico-USD. */
export function picoToUsd(pico: PicoUsd, by: PricedBy): number {
  const usd = pico / picoScales[by];
  for (let step = 0; step <= neighborsMax; step++) {
    for (const near of [usd * (1 + step * Number.EPSILON), usd * (1 - step * Number.EPSILON)]) {
      if (usdToPico(near, by) === pico) return near;
    }
  }
  return usd;
}
