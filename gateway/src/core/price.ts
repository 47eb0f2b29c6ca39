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
const exactPicoMax = Number.MAX_SAFE_INTEGER - picoPerNano;

/**
 * What a usage costs: the sum over classes of count × price, rounded once, half up, from pico-USD to nano-USD.
 * Exact: a product or sum that a number cannot hold is computed again with bigint. An amount beyond what
 * NanoUsd can hold stays at the largest it can.
 */
export function costOf(table: PriceTable, usage: Usage): NanoUsd {
  let pico = 0;
  for (const name of pricedClasses) {
    const price = table[name];
    if (price !== undefined) pico += usage[name] * price;
  }
  // Terms are not negative: below the limit every product and partial sum was exact. Asked this way round, what is not
  // a number goes the other way too.
  return pico < exactPicoMax ? Math.floor((pico + picoPerNano / 2) / picoPerNano) : costWithBigint(table, usage);
}

function costWithBigint(table: PriceTable, usage: Usage): NanoUsd {
  let pico = 0n;
  for (const name of pricedClasses) {
    pico += BigInt(Math.round(usage[name])) * BigInt(table[name] ?? 0);
  }
  const nano = (pico + 500n) / 1_000n;
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano);
}
