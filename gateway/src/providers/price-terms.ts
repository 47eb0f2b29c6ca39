import { type PriceTerms, type Provider, usualFactors, usualTerms } from "#core/index.ts";
import type { ProviderKind } from "./kind.ts";
import { providerKind } from "./kinds.ts";

/** How an account charges. By kind, since nothing of the account's own is in it yet. */
export function priceTermsOf({ kind }: Pick<Provider, "kind">): PriceTerms {
  const known = providerKind(kind);
  if (known === null) return usualTerms;
  let terms = byKind.get(known);
  if (terms === undefined) {
    const factors = [...(known.priceFactors ?? []), ...usualFactors];
    terms = { costSource: known.costSource ?? "price", factors };
    byKind.set(known, terms);
  }
  return terms;
}

const byKind = new WeakMap<ProviderKind, PriceTerms>();
