import type { PriceConfig } from "@sluice/contract/config-file";
import { nameLettersMax } from "@sluice/contract/words";
import { cataloguePrice } from "./catalogue-price.ts";
import type { CatalogueData, CatalogueModel, NameMatch } from "./read-catalogue.ts";

/** What is known of a vendor's model beside its name. */
export interface CatalogueEntry {
  /** The name of the entry: several names of a vendor's may share one. */
  readonly id: string;
  /** null: it is known, and charged by something that no price of ours says. */
  readonly price: PriceConfig | null;
  /** Tokens of input and output together; null: not known. */
  readonly contextWindow: number | null;
  /** The vendor will take it away, or has. */
  readonly deprecated: boolean;
}

/** Whose prices an upstream of a kind charges. Kinds that are not here have none of their own (a machine of one's own, a tunnel). */
const providerOfKind: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  "azure-openai": "azure",
  bedrock: "aws",
  cohere: "cohere",
  deepseek: "deepseek",
  fireworks: "fireworks",
  gemini: "google",
  groq: "groq",
  minimax: "minimax",
  mistral: "mistral",
  moonshot: "moonshotai",
  openai: "openai",
  openrouter: "openrouter",
  together: "together",
  vertex: "google",
  xai: "x-ai",
};

/** The providers of the data that some kind of ours leads to. */
export const catalogueProviders: ReadonlySet<string> = new Set(Object.values(providerOfKind));

/** The entry of a kind's model on a day (`2026-11-23`, UTC); null where the data does not know it. */
export function catalogueEntry(
  data: CatalogueData,
  kind: string,
  upstreamModel: string,
  day: string,
): CatalogueEntry | null {
  const provider = data.providers.get(Object.hasOwn(providerOfKind, kind) ? (providerOfKind[kind] ?? "") : "");
  if (provider === undefined || upstreamModel.length > nameLettersMax) return null;
  const name = upstreamModel.toLowerCase();
  for (const id of [provider.id, ...provider.fallbacks]) {
    const found = data.providers.get(id)?.models.find(({ match }) => fits(match, name));
    if (found !== undefined) return entryOf(found, day);
  }
  return null;
}

function entryOf(model: CatalogueModel, day: string): CatalogueEntry {
  const { id, contextWindow, deprecated } = model;
  return { id, price: cataloguePrice(model, day), contextWindow, deprecated };
}

function fits(match: NameMatch, name: string): boolean {
  if ("or" in match) return match.or.some((part) => fits(part, name));
  if ("and" in match) return match.and.every((part) => fits(part, name));
  if ("equals" in match) return name === match.equals;
  if ("starts_with" in match) return name.startsWith(match.starts_with);
  if ("ends_with" in match) return name.endsWith(match.ends_with);
  if ("contains" in match) return name.includes(match.contains);
  return match.regex.test(name);
}
