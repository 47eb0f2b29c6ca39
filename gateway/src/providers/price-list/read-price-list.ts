import { bounds, Failure } from "#core/index.ts";
import { isObject, type JsonObject } from "#protocols/index.ts";

const priceListModelsMax = 20_000;

/** Which model names an entry matches. */
export type NameMatch =
  | { readonly or: readonly NameMatch[] }
  | { readonly and: readonly NameMatch[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: RegExp };

/** USD; with tiers, the price beyond `start` input tokens. */
export type ListPriceMember = number | ListPriceTiers;
interface ListPriceTiers {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}
export type ListPrices = Readonly<Record<string, ListPriceMember>>;

export interface ConditionalPrices {
  /** The first day (`2026-08-17`). null: always, or at times of day (`timed`). */
  readonly from: string | null;
  readonly timed: boolean;
  readonly prices: ListPrices;
}

export interface PriceListModel {
  readonly id: string;
  readonly match: NameMatch;
  readonly contextWindow: number | null;
  readonly deprecated: boolean;
  readonly prices: readonly ConditionalPrices[];
}

interface PriceListProvider {
  readonly id: string;
  /** Providers with models that it offers at the same prices. */
  readonly fallbacks: readonly string[];
  readonly models: readonly PriceListModel[];
}

export interface PriceListData {
  /** A description of the source; null: unknown. */
  readonly source: string | null;
  /** Unix milliseconds; null: unknown. */
  readonly publishedAt: number | null;
  readonly providers: ReadonlyMap<string, PriceListProvider>;
}

/**
 * Reads the data of genai-prices (a list of providers, or `{ source, providers }`). Skips models with a match or price of
 * an unknown form. Throws Failure invalid_request for other data.
 */
export function readPriceList(text: string): PriceListData {
  if (text.length > bounds.priceListBytesMax) throw invalidPriceList("it is too large");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalidPriceList("it is not JSON");
  }
  const list = isObject(body) ? body["providers"] : body;
  if (!Array.isArray(list)) throw invalidPriceList("it has no list of providers");
  const providers = list.filter(isObject).flatMap(providerOf);
  const models = providers.reduce((sum, { models }) => sum + models.length, 0);
  if (models === 0) throw invalidPriceList("it has no models with prices");
  if (models > priceListModelsMax) throw invalidPriceList("it has too many models");
  const source = isObject(body) && typeof body["source"] === "string" ? body["source"].slice(0, 256) : null;
  const published = isObject(body) && isDay(body["published"]) ? Date.parse(body["published"]) : null;
  return { source, publishedAt: published, providers: new Map(providers.map((provider) => [provider.id, provider])) };
}

function invalidPriceList(why: string): Failure {
  return new Failure("invalid_request", `This is not a price list: ${why}.`);
}

function providerOf({ id, models, fallback_model_providers: fallbacks }: JsonObject): PriceListProvider[] {
  if (!isName(id) || !Array.isArray(models)) return [];
  return [
    {
      id,
      fallbacks: Array.isArray(fallbacks) ? fallbacks.filter(isName).slice(0, 32) : [],
      models: models.filter(isObject).flatMap(modelOf),
    },
  ];
}

function modelOf({ id, match, context_window: window, deprecated, prices }: JsonObject): PriceListModel[] {
  const matched = matchOf(match, 0);
  const priced = (Array.isArray(prices) ? prices : [{ prices }]).map(conditionOf);
  if (!isName(id) || matched === null || priced.length === 0 || priced.length > 64) return [];
  const complete = priced.filter((each) => each !== null);
  if (complete.length < priced.length) return [];
  const contextWindow = typeof window === "number" && Number.isSafeInteger(window) && window > 0 ? window : null;
  return [{ id, match: matched, contextWindow, deprecated: deprecated === true, prices: complete }];
}

const depthMax = 8;

function matchOf(value: unknown, depth: number): NameMatch | null {
  if (!isObject(value) || depth > depthMax) return null;
  for (const word of ["or", "and"] as const) {
    const parts = value[word];
    if (!Array.isArray(parts)) continue;
    const read = parts.slice(0, 256).map((part) => matchOf(part, depth + 1));
    const understood = read.filter((part) => part !== null);
    // An unknown alternative is skipped; an unknown condition skips the model.
    if (word === "or") return { or: understood };
    return understood.length === parts.length ? { and: understood } : null;
  }
  for (const word of ["equals", "starts_with", "ends_with", "contains"] as const) {
    const text = value[word];
    if (isName(text)) return { [word]: text.toLowerCase() } as unknown as NameMatch;
  }
  const pattern = safePattern(value["regex"]);
  return pattern === null ? null : { regex: pattern };
}

/** Accepts only patterns with at most one repetition, and none of a group: their cost is at most quadratic in a name's length. */
function safePattern(source: unknown): RegExp | null {
  if (typeof source !== "string" || source.length > 200 || /\)[*+{?]/.test(source)) return null;
  if ((source.match(/(?<!\\)[*+]|\{\d*,\}/g) ?? []).length > 1) return null;
  try {
    return new RegExp(source);
  } catch {
    return null;
  }
}

function conditionOf(value: unknown): ConditionalPrices | null {
  if (!isObject(value)) return null;
  const prices = pricesOf(value["prices"]);
  if (prices === null) return null;
  const constraint = value["constraint"];
  if (constraint == null) return { from: null, timed: false, prices };
  if (!isObject(constraint)) return null;
  const { start_date: from, start_time: time } = constraint;
  if (isDay(from)) return { from, timed: false, prices };
  return typeof time === "string" ? { from: null, timed: true, prices } : null;
}

function pricesOf(value: unknown): ListPrices | null {
  if (!isObject(value)) return null;
  const read: Record<string, ListPriceMember> = {};
  for (const [name, price] of Object.entries(value)) {
    if (price === undefined || price === null) continue;
    const member = memberOf(price);
    if (member === null) return null;
    read[name] = member;
  }
  return read;
}

function memberOf(price: unknown): ListPriceMember | null {
  if (isAmount(price)) return price;
  if (!isObject(price) || !isAmount(price["base"]) || !Array.isArray(price["tiers"])) return null;
  const tiers = price["tiers"].filter(isObject).map(({ start, price }) => ({ start, price }));
  const whole = tiers.every(({ start, price }) => Number.isSafeInteger(start) && Number(start) >= 1 && isAmount(price));
  if (!whole || tiers.length !== price["tiers"].length || tiers.length === 0) return null;
  return { base: price["base"], tiers: tiers as unknown as ListPriceTiers["tiers"] };
}

/** A higher price is assumed to be a mistake in the data. */
const usdMax = 100_000;

function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= usdMax;
}

function isDay(value: unknown): value is string {
  return typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length >= 1 && value.length <= 256;
}
