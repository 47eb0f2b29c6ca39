import type { PriceConfig } from "@sluice/contract/config-file";
import type { ConditionalPrices, ListPriceMember, ListPrices, PriceListModel } from "./read-price-list.ts";

/** Prices of the data in the words of ours; USD for the same number of units, but for hours of sound. */
const members = {
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

/** Prices that ours has no word for: null, or the member that pays for it and costs as much as the dearer of the two. */
const coarser: ReadonlyMap<string, keyof PriceConfig | null> = new Map([
  ["cache_image_read_mtok", "cache_read"],
  ["input_video_mtok", null],
]);

/** Of a long context, ours has prices for tokens of text alone. */
const ofLongContext = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"] as const;

/**
 * What a model of the data costs on a day (`2026-11-23`), as a price of ours; null where the data charges by something that ours
 * cannot say (pages of documents), or says nothing. Where ours is coarser (times of the day, several long contexts) the dearest
 * counts: a budget holds at least what may be charged.
 */
export function listPrice({ provider, model }: PriceListModelOf, day: string): PriceConfig | null {
  const known = pricesOn(model.prices, day).map(priceOf);
  const [first] = known;
  if (first === undefined || known.includes(null) || first === null) return null;
  const price = known.reduce<PriceConfig>((dearest, next) => dearer(dearest, next ?? {}), first);
  return withOwnPrices(price, provider, model.id);
}

/** A model of the data, and whose it is there. */
export interface PriceListModelOf {
  readonly provider: string;
  readonly model: PriceListModel;
}

/** What the data lists later counts instead of what stands before it, but for times of the day, which count beside it. */
function pricesOn(prices: readonly ConditionalPrices[], day: string): readonly ListPrices[] {
  let inForce: ListPrices[] = [];
  for (const { from, timed, prices: these } of prices) {
    if (timed) inForce.push(these);
    else if (from === null || from <= day) inForce = [these];
  }
  return inForce;
}

function priceOf(prices: ListPrices): PriceConfig | null {
  const plain: Record<string, number> = {};
  const long: Record<string, number> = {};
  let above = Number.POSITIVE_INFINITY;
  for (const [name, member] of Object.entries(prices)) {
    const word = (members as Readonly<Record<string, keyof PriceConfig>>)[name];
    if (word === undefined) {
      if (name === "audio_hours" || name === "input_audio_hours")
        plain["audio_second"] = rounded(dearestOf(member) / 3_600, 1e12);
      else if (!coarser.has(name)) return null;
      const payer = coarser.get(name) ?? null;
      if (payer !== null) plain[payer] = Math.max(plain[payer] ?? 0, dearestOf(member));
      continue;
    }
    if (typeof member === "number") plain[word] = Math.max(plain[word] ?? 0, member);
    else if ((ofLongContext as readonly string[]).includes(word)) {
      plain[word] = member.base;
      long[word] = dearestOf(member);
      above = Math.min(above, ...member.tiers.map(({ start }) => start));
    } else plain[word] = dearestOf(member);
  }
  if (Object.keys(plain).length === 0) return null;
  return { ...plain, ...(Object.keys(long).length === 0 ? {} : { long_context: { above, ...long } }) };
}

/** Rounds to `1 / parts` USD. */
function rounded(usd: number, parts: number): number {
  return Math.round(usd * parts) / parts;
}

function dearestOf(member: ListPriceMember): number {
  return typeof member === "number" ? member : Math.max(member.base, ...member.tiers.map(({ price }) => price));
}

/** Each member of both at its dearer price. */
function dearer(one: PriceConfig, other: PriceConfig): PriceConfig {
  const { long_context: long = other.long_context, ...plain } = one;
  const merged: Record<string, number> = { ...(plain as Record<string, number>) };
  const { long_context: _long, ...others } = other;
  for (const [name, usd] of Object.entries(others as Record<string, number>)) {
    merged[name] = Math.max(merged[name] ?? 0, usd);
  }
  return { ...merged, ...(long === undefined ? {} : { long_context: long }) };
}

/** Prices that the data does not have, from the vendors' own pages. They fill gaps: a price of the data is never replaced. */
interface OwnPrices {
  /** Of the data. */
  readonly providers: readonly string[];
  readonly models: RegExp;
  /** The member that a model must have a price for. */
  readonly beside?: keyof PriceConfig;
  /** USD as in a price of ours. */
  readonly prices?: PriceConfig;
  /** What writing a cache for an hour or longer costs, as a multiple of the input. */
  readonly longWrites?: number;
}

/** As read on 2026-11-24. The sources stand with each; docs/operations.md lists them. */
const ownPrices: readonly OwnPrices[] = [
  // platform.claude.com/docs/en/about-claude/pricing: one-hour cache writes cost twice the input, at the clouds too.
  { providers: ["anthropic", "aws", "google"], models: /claude/, beside: "cache_write_5m", longWrites: 2 },
  // developers.openai.com/api/docs/pricing: caches kept for twelve hours cost 2.5 times the input, a container 0.03 USD.
  { providers: ["openai"], models: /./, beside: "cache_write_5m", longWrites: 2.5 },
  { providers: ["openai"], models: /./, beside: "web_search", prices: { code_session: 30 } },
  // The same page, of models that have gone from it since: sound of the audio previews.
  { providers: ["openai"], models: /^gpt-4o-audio-preview/, prices: { audio_input: 40, audio_output: 80 } },
  { providers: ["openai"], models: /^gpt-4o-mini-audio-preview/, prices: { audio_input: 10, audio_output: 20 } },
  // docs.x.ai/docs/models: searches of the web and of X, runs of code, searches of collections.
  {
    providers: ["x-ai"],
    models: /^grok-(?!voice)/,
    beside: "input",
    prices: { web_search: 5, code_session: 5, file_search: 2.5 },
  },
  // ai.google.dev/gemini-api/docs/pricing: answers grounded on Google Maps.
  { providers: ["google"], models: /^gemini-2/, beside: "web_search", prices: { map_search: 25 } },
  { providers: ["google"], models: /^gemini-(?!2)/, beside: "web_search", prices: { map_search: 14 } },
];

/** The same price with what the data lacks. */
function withOwnPrices(price: PriceConfig, provider: string, model: string): PriceConfig {
  let filled = price;
  for (const { providers, models, beside, prices = {}, longWrites } of ownPrices) {
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
