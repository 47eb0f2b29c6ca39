import { type Catalog, type Deployment, findByModelName, type Model, type PriceVersion } from "#core/index.ts";

/** A model with a price, and the deployment through which one account serves it. */
export interface SoldModel {
  readonly model: Model;
  readonly deployment: Deployment;
}

/** By catalog and account: by the upstream's names. Of several models of one name the first. */
const known = new WeakMap<Catalog, ReadonlyMap<string, ReadonlyMap<string, SoldModel>>>();

/** What an account serves that has a price, by the upstream's name of it. */
export function soldAt(catalog: Catalog, providerId: string): ReadonlyMap<string, SoldModel> {
  let sold = known.get(catalog);
  if (sold === undefined) {
    sold = soldIn(catalog);
    known.set(catalog, sold);
  }
  return sold.get(providerId) ?? nothing;
}

/** For settling: the price of whatever model an account's answer names. */
export function pricesAt(catalog: Catalog, providerId: string): (model: string) => PriceVersion | null {
  return (model) => findByModelName(soldAt(catalog, providerId), model)?.model.price ?? null;
}

const nothing: ReadonlyMap<string, SoldModel> = new Map();

function soldIn({ models }: Catalog): ReadonlyMap<string, ReadonlyMap<string, SoldModel>> {
  const sold = new Map<string, Map<string, SoldModel>>();
  for (const model of models.values()) {
    if (model.price === null) continue;
    for (const deployment of model.deployments) {
      const { provider, upstreamModel } = deployment;
      const there = sold.get(provider.id) ?? new Map<string, SoldModel>();
      sold.set(provider.id, there);
      if (!there.has(upstreamModel)) there.set(upstreamModel, { model, deployment });
    }
  }
  return sold;
}
