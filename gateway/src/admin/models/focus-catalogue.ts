import { type PriceTable, pricesOf } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import { type Clock, type FocusCatalogue, focusListKey } from "#ports/index.ts";
import { providerKind } from "#providers/index.ts";
import { priceListInUse } from "./price-list-reading.ts";

interface CatalogueDependencies {
  readonly controlStore: Pick<ControlStore, "storedPriceList" | "listModels" | "listProviders">;
  readonly clock: Pick<Clock, "now">;
}

/** Vendors, publishers and list prices of the current models. Guessed prices are not list prices. */
export async function focusCatalogue({ controlStore, clock }: CatalogueDependencies): Promise<FocusCatalogue> {
  const { prices } = await priceListInUse({ controlStore, clock });
  const providers = await controlStore.listProviders();
  const models = await controlStore.listModels();
  const kinds = new Map(providers.map(({ id, kind }) => [id, kind]));
  const listPrices: Record<string, PriceTable> = {};
  for (const { provider, upstream_model: upstreamModel } of models.flatMap(({ deployments }) => deployments)) {
    const kind = kinds.get(provider);
    const entry = kind === undefined ? null : prices.entry(kind, upstreamModel);
    if (entry?.price == null || entry.guessed) continue;
    listPrices[focusListKey(provider, upstreamModel)] = pricesOf(entry.price).table;
  }
  const titleOf = (kind: string) => providerKind(kind)?.title ?? kind;
  return {
    vendors: Object.fromEntries(providers.map(({ id, kind }) => [id, titleOf(kind)])),
    publishers: Object.fromEntries(
      models.flatMap(({ name, owned_by }) => (owned_by === "" ? [] : [[name, titleOf(owned_by)]])),
    ),
    listPrices,
  };
}
