import type { PriceConfig } from "@sluice/contract/config-file";
import { withOwnPrices } from "./own-prices.ts";
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
        plain["audio_second"] = wholePico(dearestOf(member) / 3_600);
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

function wholePico(usd: number): number {
  return Math.round(usd * 1e12) / 1e12;
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
