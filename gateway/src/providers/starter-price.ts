import type { PriceConfig } from "@sluice/contract/config-file";
import type { ProviderKind, StarterModel } from "./kind.ts";

/** The price of a model that its kind knows; null for others. */
export function starterPrice(kind: ProviderKind, upstreamModel: string): PriceConfig | null {
  const model = kind.starterModels.find(({ name }) => name === upstreamModel);
  return model === undefined ? null : priceOfStarter(model);
}

export function priceOfStarter({ input, cacheRead, cacheWrite, output, longContext }: StarterModel): PriceConfig {
  return {
    input,
    cache_read: cacheRead,
    ...(cacheWrite === undefined ? {} : { cache_write_5m: cacheWrite[0], cache_write_1h: cacheWrite[1] }),
    output,
    ...(longContext === undefined ? {} : { long_context: longContext }),
  };
}
