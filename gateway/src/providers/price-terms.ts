import { type CostSource, type PriceTerms, type Provider, usualFactors, usualTerms } from "#core/index.ts";
import { costSourceOf } from "./cost-source.ts";
import type { ProviderKind } from "./kind.ts";
import { providerKind } from "./kinds.ts";

/** How an account charges: as its kind does, unless it says otherwise. */
export function priceTermsOf({ kind, settings }: Pick<Provider, "kind" | "settings">): PriceTerms {
  const known = providerKind(kind);
  if (known === null) return usualTerms;
  let terms = byKind.get(known);
  if (terms === undefined) {
    const factors = [...(known.priceFactors ?? []), ...usualFactors];
    const { routers } = known;
    const all = routers === undefined ? { factors } : { factors, routers };
    terms = { price: { costSource: "price", ...all }, vendor: { costSource: "vendor", ...all } };
    byKind.set(known, terms);
  }
  return terms[costSourceOf({ settings }) ?? known.costSource ?? "price"];
}

const byKind = new WeakMap<ProviderKind, Readonly<Record<CostSource, PriceTerms>>>();
