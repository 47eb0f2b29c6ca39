import type { PriceConfig } from "@sluice/contract/config-file";
import type { ConditionalPrices, ListPriceMember, ListPrices, PriceListModel } from "./read-price-list.ts";

/** Our names for the prices of the data. The same units, except hours of audio. */
const memberNames = {
  input_mtok: "input",
  output_mtok: "output",
  cache_read_mtok: "cache_read",
  cache_write_mtok: "cache_write_5m",
  cache_write_1h_mtok: "cache_write_1h",
  cache_audio_read_mtok: "cache_read_audio",
  output_reasoning_mtok: "separate_reasoning",
  input_audio_mtok: "audio_input",
  output_audio_mtok: "audio_output",
  input_image_mtok: "image_input",
  output_image_mtok: "image_output",
  web_searches_kcount: "web_search",
  storage_searches_kcount: "file_search",
  requests_kcount: "request",
  input_mchars: "character",
} as const satisfies Record<string, keyof PriceConfig>;

/** The data's other prices: null to ignore one, or our price that covers it, set to the higher of both. */
const mergedMembers: ReadonlyMap<string, keyof PriceConfig | null> = new Map([
  ["cache_image_read_mtok", "cache_read"],
  ["input_video_mtok", null],
]);

/** Only text tokens have long-context prices. */
const ofLongContext = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"] as const;

/**
 * The price of a model on a day (`2026-11-23`) in our format; null if there is none, or in a unit that we lack (pages of
 * documents). Where our format is coarser (times of day, several long contexts) the highest price counts, so that budgets
 * hold enough.
 */
export function listPrice({ provider, model }: ProviderModel, day: string): PriceConfig | null {
  const prices = pricesOn(model.prices, day).map(priceOf);
  const [first] = prices;
  if (first === undefined || prices.includes(null) || first === null) return null;
  const price = prices.reduce<PriceConfig>((dearest, next) => highestPrices(dearest, next ?? {}), first);
  return withExtraPrices(price, provider, model.id);
}

export interface ProviderModel {
  readonly provider: string;
  readonly model: PriceListModel;
}

/** A later entry replaces earlier ones; entries for times of day add to them. */
function pricesOn(prices: readonly ConditionalPrices[], day: string): readonly ListPrices[] {
  let current: ListPrices[] = [];
  for (const { from, timed, prices: these } of prices) {
    if (timed) current.push(these);
    else if (from === null || from <= day) current = [these];
  }
  return current;
}

function priceOf(prices: ListPrices): PriceConfig | null {
  const plain: Record<string, number> = {};
  const long: Record<string, number> = {};
  let above = Number.POSITIVE_INFINITY;
  for (const [name, member] of Object.entries(prices)) {
    const word = (memberNames as Readonly<Record<string, keyof PriceConfig>>)[name];
    if (word === undefined) {
      if (name === "audio_hours" || name === "input_audio_hours")
        plain["audio_second"] = rounded(highestOf(member) / 3_600, 1e12);
      else if (!mergedMembers.has(name)) return null;
      const payer = mergedMembers.get(name) ?? null;
      if (payer !== null) plain[payer] = Math.max(plain[payer] ?? 0, highestOf(member));
      continue;
    }
    if (typeof member === "number") plain[word] = Math.max(plain[word] ?? 0, member);
    else if ((ofLongContext as readonly string[]).includes(word)) {
      plain[word] = member.base;
      long[word] = highestOf(member);
      above = Math.min(above, ...member.tiers.map(({ start }) => start));
    } else plain[word] = highestOf(member);
  }
  if (Object.keys(plain).length === 0) return null;
  return { ...plain, ...(Object.keys(long).length === 0 ? {} : { long_context: { above, ...long } }) };
}

/** Rounds to `1 / parts` USD. */
function rounded(usd: number, parts: number): number {
  return Math.round(usd * parts) / parts;
}

function highestOf(member: ListPriceMember): number {
  return typeof member === "number" ? member : Math.max(member.base, ...member.tiers.map(({ price }) => price));
}

/** The higher price of each member. */
function highestPrices(one: PriceConfig, other: PriceConfig): PriceConfig {
  const { long_context: long = other.long_context, ...plain } = one;
  const merged: Record<string, number> = { ...(plain as Record<string, number>) };
  const { long_context: _long, ...others } = other;
  for (const [name, usd] of Object.entries(others as Record<string, number>)) {
    merged[name] = Math.max(merged[name] ?? 0, usd);
  }
  return { ...merged, ...(long === undefined ? {} : { long_context: long }) };
}

/** Prices that the data lacks, from vendors' pages. They never replace a price of the data. */
interface ExtraPrices {
  readonly providers: readonly string[];
  readonly models: RegExp;
  /** Applies only to models with this price. */
  readonly beside?: keyof PriceConfig;
  /** USD. */
  readonly prices?: PriceConfig;
  /** The price of cache writes for an hour or longer, as a multiple of the input price. */
  readonly longWrites?: number;
}

/** Read on 2026-11-24; also listed in docs/prices.md. */
const extraPrices: readonly ExtraPrices[] = [
  // platform.claude.com/docs/en/about-claude/pricing: one-hour cache writes cost twice the input, also in clouds.
  { providers: ["anthropic", "aws", "google"], models: /claude/, beside: "cache_write_5m", longWrites: 2 },
  // developers.openai.com/api/docs/pricing: twelve-hour caches cost 2.5 times the input, a container 0.03 USD.
  { providers: ["openai"], models: /./, beside: "cache_write_5m", longWrites: 2.5 },
  { providers: ["openai"], models: /./, beside: "web_search", prices: { code_session: 30 } },
  // The same page at an earlier date: audio previews.
  { providers: ["openai"], models: /^gpt-4o-audio-preview/, prices: { audio_input: 40, audio_output: 80 } },
  { providers: ["openai"], models: /^gpt-4o-mini-audio-preview/, prices: { audio_input: 10, audio_output: 20 } },
  // docs.x.ai/docs/models: searches and code execution.
  {
    providers: ["x-ai"],
    models: /^grok-(?!voice)/,
    beside: "input",
    prices: { web_search: 5, code_session: 5, file_search: 2.5 },
  },
  // ai.google.dev/gemini-api/docs/pricing: grounding with Google Maps.
  { providers: ["google"], models: /^gemini-2/, beside: "web_search", prices: { map_search: 25 } },
  { providers: ["google"], models: /^gemini-(?!2)/, beside: "web_search", prices: { map_search: 14 } },
];

function withExtraPrices(price: PriceConfig, provider: string, model: string): PriceConfig {
  let filled = price;
  for (const { providers, models, beside, prices = {}, longWrites } of extraPrices) {
    if (!providers.includes(provider) || !models.test(model)) continue;
    if (beside !== undefined && price[beside] === undefined) continue;
    filled = { ...prices, ...filled };
    if (longWrites !== undefined) filled = withLongWrites(filled, longWrites);
  }
  return filled;
}

function withLongWrites(price: PriceConfig, times: number): PriceConfig {
  const { input, cache_write_1h: known, long_context: long } = price;
  if (known !== undefined || input === undefined) return price;
  const written = { ...price, cache_write_1h: rounded(input * times, 1e6) };
  if (long?.input === undefined) return written;
  return { ...written, long_context: { ...long, cache_write_1h: rounded(long.input * times, 1e6) } };
}
