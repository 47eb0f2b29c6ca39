import type { PicoUsd } from "./money.ts";
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
