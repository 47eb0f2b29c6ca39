import type { PriceConfig } from "@sluice/contract/config-file";
import { nameLengthMax } from "@sluice/contract/words";
import { listPrice, type ProviderModel } from "./list-price.ts";
import type { NameMatch, PriceListData } from "./read-price-list.ts";

export interface PriceListEntry {
  /** Several model names may share an entry. */
  readonly id: string;
  /** null: the list has a price, but in a unit that we cannot charge. */
  readonly price: PriceConfig | null;
  /** Input and output tokens together; null: unknown. */
  readonly contextWindow: number | null;
  readonly deprecated: boolean;
  /** The name continues with another number (`claude-sonnet-5-5` for `claude-sonnet-5`), so it may be another model. */
  readonly guessed: boolean;
}

/** The price list's provider for each provider type. Types without an entry have no list prices. */
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

export const priceListProviders: ReadonlySet<string> = new Set(Object.values(providerOfKind));

export function hasPriceList(kind: string): boolean {
  return Object.hasOwn(providerOfKind, kind);
}

/** A model's entry on a day (`2026-11-23`, UTC); null: not in the list. */
export function priceListEntry(
  data: PriceListData,
  kind: string,
  upstreamModel: string,
  day: string,
): PriceListEntry | null {
  const found = priceListModel(data, kind, upstreamModel);
  if (found === null) return null;
  const { id, contextWindow, deprecated, match } = found.model;
  const guessed = isGuess(match, id, upstreamModel.toLowerCase());
  return { id, price: listPrice(found, day), contextWindow, deprecated, guessed };
}

export function priceListModel(data: PriceListData, kind: string, upstreamModel: string): ProviderModel | null {
  const provider = data.providers.get(hasPriceList(kind) ? (providerOfKind[kind] ?? "") : "");
  if (provider === undefined || upstreamModel.length > nameLengthMax) return null;
  const name = upstreamModel.toLowerCase();
  for (const id of [provider.id, ...provider.fallbacks]) {
    const model = data.providers.get(id)?.models.find(({ match }) => fits(match, name));
    if (model !== undefined) return { provider: id, model };
  }
  return null;
}

/** A number other than a date follows the longest part of the name that the entry matches. */
function isGuess(match: NameMatch, id: string, name: string): boolean {
  let end = -1;
  for (const text of [id.toLowerCase(), ...literals(match)]) {
    const at = name.indexOf(text);
    if (at !== -1) end = Math.max(end, at + text.length);
  }
  const rest = end === -1 ? "" : name.slice(end);
  return /^[-._]\d{1,2}(?![\da-z])/.test(rest) && !/^-\d\d-(?:\d\d|20\d\d)(?!\d)/.test(rest);
}

function literals(match: NameMatch): readonly string[] {
  if ("or" in match) return match.or.flatMap(literals);
  if ("and" in match) return match.and.flatMap(literals);
  return "regex" in match ? [] : Object.values(match);
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
