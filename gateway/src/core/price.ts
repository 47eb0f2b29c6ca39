import type { NanoUsd, PicoUsd } from "./money.ts";
import type { Usage } from "./usage.ts";

/** Pico-USD for one unit of each usage class. A class without a price costs nothing. `reasoning` is paid as output. */
export type PriceTable = { readonly [K in Exclude<keyof Usage, "reasoning">]?: PicoUsd };

/** One immutable version of a model's price. `effectiveFrom` is Unix milliseconds. */
export interface PriceVersion {
  readonly id: string;
  readonly model: string;
  readonly table: PriceTable;
  readonly effectiveFrom: number;
}

export const pricedClasses = [
  "inputUncached",
  "cacheRead",
  "cacheWrite5m",
  "cacheWrite1h",
  "output",
  "audioInput",
  "audioOutput",
  "imageInput",
  "imageOutput",
  "images",
  "videoSeconds",
] as const satisfies readonly (keyof PriceTable)[];

const picoPerNano = 1_000;

/**
 * What a usage costs: the sum over classes of count × price, rounded once, half up, from pico-USD to nano-USD.
 * Exact: a product or sum that a number cannot hold is computed again with bigint. An amount beyond what
 * NanoUsd can hold stays at the largest it can.
 */
export function costOf(table: PriceTable, usage: Usage): NanoUsd {
  let pico = 0;
  for (const name of pricedClasses) {
    const price = table[name];
    if (price === undefined) continue;
    const product = usage[name] * price;
    pico += product;
    // A product below 2^53 came out exact; at or above it (or not a number) the doubles cannot be trusted.
    if (!(product < Number.MAX_SAFE_INTEGER && pico < Number.MAX_SAFE_INTEGER - picoPerNano)) {
      return costWithBigint(table, usage);
    }
  }
  const rounded = pico + picoPerNano / 2;
  // Not Math.floor(rounded / 1000): that quotient can itself round up to the next whole number.
  return (rounded - (rounded % picoPerNano)) / picoPerNano;
}

function costWithBigint(table: PriceTable, usage: Usage): NanoUsd {
  let pico = 0n;
  for (const name of pricedClasses) {
    pico += BigInt(Math.round(usage[name])) * BigInt(table[name] ?? 0);
  }
  const nano = (pico + 500n) / 1_000n;
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano);
}
