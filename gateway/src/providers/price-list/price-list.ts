import type { PriceConfig } from "@sluice/contract/config-file";
import { nameLettersMax } from "@sluice/contract/words";
import { listPrice, type PriceListModelOf } from "./list-price.ts";
import type { NameMatch, PriceListData } from "./read-price-list.ts";

export interface PriceListEntry {
  /** The name of the entry: several names of a vendor's may share one. */
  readonly id: string;
  /** null: it is known, and charged by something that no price of ours says. */
  readonly price: PriceConfig | null;
  /** Tokens of input and output together; null: not known. */
  readonly contextWindow: number | null;
  /** The vendor will take it away, or has. */
  readonly deprecated: boolean;
  /** The name has another number behind what the entry is for (`claude-sonnet-5-5`, `claude-sonnet-5`): it may be another model. */
  readonly guessed: boolean;
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
export const priceListProviders: ReadonlySet<string> = new Set(Object.values(providerOfKind));

/** Whether the data knows models of the kind. */
export function hasPriceList(kind: string): boolean {
  return Object.hasOwn(providerOfKind, kind);
}

/** The entry of a kind's model on a day (`2026-11-23`, UTC); null where the data does not know it. */
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

/** What the data has of a kind's model; null where it does not know it. */
export function priceListModel(data: PriceListData, kind: string, upstreamModel: string): PriceListModelOf | null {
  const provider = data.providers.get(hasPriceList(kind) ? (providerOfKind[kind] ?? "") : "");
  if (provider === undefined || upstreamModel.length > nameLettersMax) return null;
  const name = upstreamModel.toLowerCase();
  for (const id of [provider.id, ...provider.fallbacks]) {
    const model = data.providers.get(id)?.models.find(({ match }) => fits(match, name));
    if (model !== undefined) return { provider: id, model };
  }
  return null;
}

/** Behind the longest part of the name that the entry names, another number stands that is no date. */
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
