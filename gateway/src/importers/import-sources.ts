import type { PriceConfig } from "@sluice/contract/config-file";

export interface ImportSources {
  /** Price of a model in the price list; null: it is not there. */
  readonly listPrice: (kind: string, upstreamModel: string) => PriceConfig | null;
  /** Unix milliseconds. */
  readonly now: number;
}
