import { usageTable } from "@sluice/contract/words";
import { oncePerObject } from "./bounded-map.ts";
import type { NanoUsd, PicoUsd } from "./money.ts";
import { inputClasses, inputTokensOf, outputClasses, type Usage } from "./usage.ts";

/** Pico-USD per unit of each usage class. A class without a price is free. `reasoning` is charged as output. */
export type ClassPrices = { readonly [K in Exclude<keyof Usage, "reasoning" | "unexplained">]?: PicoUsd };

/** Prices of a whole request whose input, including cached and written tokens, is larger than `above` tokens. */
interface LongContextPrices {
  readonly above: number;
  /** Only classes whose price differs. */
  readonly prices: ClassPrices;
}

export type PriceTable = ClassPrices & { readonly longContext?: LongContextPrices };

/** Other prices for some calls: by resolution and audio of videos, service tier, region or speed. null or absent: any. */
export interface PriceVariant extends Partial<VariantTraits> {
  /** Factor in thousandths for the model's prices, except fees (see `scaledPrices`). Default: 1,000. */
  readonly multiplier?: number;
  /** Only classes with their own price. */
  readonly table: ClassPrices;
}

/** Selects the variant of a call. null: unknown or normal. */
export interface VariantTraits {
  readonly resolution: string | null;
  readonly audio: boolean | null;
  readonly tier: string | null;
  readonly geo: string | null;
  readonly speed: string | null;
}

type VariantAxis = keyof VariantTraits;

/** One immutable version of a model's price. `effectiveFrom` is Unix milliseconds. */
export interface PriceVersion {
  readonly id: string;
  readonly model: string;
  readonly table: PriceTable;
  readonly variants?: readonly PriceVariant[];
  readonly effectiveFrom: number;
  /** Set if it comes from the price list, not from a person. */
  readonly origin?: "price_list";
}

/** In ascending weight. Of the variants that match, the one with the heaviest axes is the most specific. */
const variantAxes: readonly VariantAxis[] = ["audio", "resolution", "geo", "speed", "tier"];

/**
 * The price of one kind of call: a version whose id (`prc_…@2*1100000`) allows to compute the cost again. Uses the most specific variant
 * with its own prices, then the factors of variants on other axes. `covers`: the axes of the variants used.
 */
export function priceVariant(price: PriceVersion, traits: Partial<VariantTraits>) {
  if (price.variants === undefined) return { price, covers: noAxes };
  const covers = new Set<VariantAxis>();
  const own = mostSpecific(price.variants, traits, covers, hasOwnPrices);
  const chosen = own === null ? price : variantAt(price, own);
  let millionths = whole;
  for (let next = own; ; ) {
    for (const axis of next === null ? [] : axesOf(price.variants[next])) covers.add(axis);
    next = mostSpecific(price.variants, traits, covers, (variant) => !hasOwnPrices(variant));
    if (next === null) return { price: multipliedPrice(chosen, millionths), covers };
    millionths = timesThousandths(millionths, price.variants[next]?.multiplier ?? thousandths);
  }
}

export function videoPrice(price: PriceVersion, video: Pick<VariantTraits, "resolution" | "audio">): PriceVersion {
  return priceVariant(price, video).price;
}

const noAxes: ReadonlySet<VariantAxis> = new Set();

function hasOwnPrices({ table }: PriceVariant): boolean {
  return Object.keys(table).length > 0;
}

/** The index of the variant; null if none matches. */
function mostSpecific(
  variants: readonly PriceVariant[],
  traits: Partial<VariantTraits>,
  covered: ReadonlySet<VariantAxis>,
  counts: (variant: PriceVariant) => boolean,
): number | null {
  let best: number | null = null;
  let bestWeight = -1;
  for (const [index, variant] of variants.entries()) {
    const axes = axesOf(variant);
    if (!counts(variant) || axes.some((axis) => covered.has(axis) || !isSame(variant[axis], traits[axis]))) continue;
    // A variant for all calls applies only if no other does.
    if (axes.length === 0 && covered.size > 0) continue;
    const weight = axes.reduce((sum, axis) => sum + 2 ** variantAxes.indexOf(axis), 0);
    if (weight <= bestWeight) continue;
    best = index;
    bestWeight = weight;
  }
  return best;
}

function axesOf(variant: PriceVariant | undefined): readonly VariantAxis[] {
  return variantAxes.filter((axis) => (variant?.[axis] ?? null) !== null);
}

function isSame(one: VariantTraits[VariantAxis] | undefined, other: VariantTraits[VariantAxis] | undefined): boolean {
  return String(one).toLowerCase() === String(other).toLowerCase();
}

/** Finds the version with this id: the price itself, a variant, or a multiple of either. Returns null if there is no such variant. */
export function variantNamed(price: PriceVersion, versionId: string): PriceVersion | null {
  const [found, index, factors = ""] = /^(?:@(\d+))?((?:\*\d{1,12})*)$/.exec(versionId.slice(price.id.length)) ?? [];
  if (found === undefined || (index !== undefined && price.variants?.[Number(index)] === undefined)) return null;
  const base = index === undefined ? price : variantAt(price, Number(index));
  return factors.split("*").slice(1).map(Number).reduce(multipliedPrice, base);
}

/** The id of the price that a variant's id belongs to. */
export function baseVersionId(versionId: string): string {
  return versionId.split(/[@*]/, 1)[0] ?? versionId;
}

const thousandths = 1_000;
const whole = 1_000_000;

/** Multiplies a factor in millionths by one in thousandths, rounded up. */
export function timesThousandths(millionths: number, factor: number): number {
  return Math.ceil((millionths * factor) / thousandths);
}

/** Multiples of each version by factor. There are few factors. */
const multiplesOf = oncePerObject((_price: PriceVersion) => new Map<number, PriceVersion>());

/** The version multiplied by a factor in millionths. */
export function multipliedPrice(price: PriceVersion, millionths: number): PriceVersion {
  if (millionths === whole) return price;
  const multiples = multiplesOf(price);
  let version = multiples.get(millionths);
  if (version === undefined) {
    const { id, model, table, effectiveFrom } = price;
    version = { id: `${id}*${millionths}`, model, table: scaledTable(table, millionths), effectiveFrom };
    multiples.set(millionths, version);
  }
  return version;
}

function scaledTable({ longContext, ...prices }: PriceTable, millionths: number): PriceTable {
  const table = scaledPrices(prices, millionths);
  if (longContext === undefined) return table;
  return { ...table, longContext: { ...longContext, prices: scaledPrices(longContext.prices, millionths) } };
}

/** Fees, which are priced by the thousand (searches, sessions, requests), are the same at every tier. */
function scaledPrices(prices: ClassPrices, millionths: number): ClassPrices {
  const scaled: { -readonly [Class in PricedClass]?: PicoUsd } = { ...prices };
  for (const name of pricedClasses) {
    const pico = prices[name];
    if (pico === undefined || fees.has(name)) continue;
    scaled[name] = Number((BigInt(pico) * BigInt(millionths) + BigInt(whole / 2)) / BigInt(whole));
  }
  return scaled;
}

const fees: ReadonlySet<string> = new Set(usageTable.flatMap(({ name, by }) => (by === "thousand" ? [name] : [])));

/** A fixed price per call as a version. Its id holds the amount (`call:…`, in nano-USD), so it is not stored. */
export function pricePerCall(nanoUsd: NanoUsd): PriceVersion {
  const table: PriceTable = { chargedRequests: nanoUsd * picoPerNano };
  return { id: `${perCall}${nanoUsd}`, model: "", table, effectiveFrom: 0 };
}

/** The price of an id that `pricePerCall` made; null for any other id. */
export function pricePerCallNamed(versionId: string): PriceVersion | null {
  const amount = versionId.startsWith(perCall) ? versionId.slice(perCall.length) : "";
  return /^\d{1,13}$/.test(amount) ? pricePerCall(Number(amount)) : null;
}

const perCall = "call:";

/** In a long context a class with its own price costs the higher of both. */
function variantAt({ id, model, effectiveFrom, ...price }: PriceVersion, index: number): PriceVersion {
  const { multiplier = thousandths, table: own = {} } = price.variants?.[index] ?? {};
  const base = scaledTable(price.table, timesThousandths(whole, multiplier));
  const table: PriceTable = { ...base, ...own };
  const version = { id: `${id}@${index}`, model, effectiveFrom };
  if (base.longContext === undefined) return { ...version, table };
  const { above, prices } = base.longContext;
  const longPrices = pricedClasses.flatMap((name) => {
    const long = prices[name];
    return long === undefined ? [] : [[name, Math.max(long, own[name] ?? 0)]];
  });
  return { ...version, table: { ...table, longContext: { above, prices: Object.fromEntries(longPrices) } } };
}

export type PricedClass = keyof ClassPrices;

export const pricedClasses: readonly PricedClass[] = usageTable.flatMap((row) =>
  row.price === null ? [] : [row.name],
);

/** The prices for a request of this usage: of a long context, or the normal ones. */
export function chargedPrices(table: PriceTable, usage: Usage): ClassPrices {
  const { longContext } = table;
  if (longContext === undefined || inputTokensOf(usage) <= longContext.above) return table;
  return { ...table, ...longContext.prices };
}

const picoPerNano = 1_000;
const exactPicoMax = Number.MAX_SAFE_INTEGER - picoPerNano;

/**
 * The cost of a usage: the sum of count × price, rounded once, half up, to nano-USD. Exact, because sums that a number cannot hold are
 * computed with bigint. Capped at the largest safe integer.
 */
export function costOf(table: PriceTable, usage: Usage): NanoUsd {
  return costBy(chargesOf(table, usage).prices, usage);
}

/** The cost of the input of a usage. */
export function inputCostOf(table: PriceTable, usage: Usage): NanoUsd {
  return costBy(chargesOf(table, usage).input, usage);
}

/**
 * The savings of the upstream's cache: the cost of the same usage with every cached token at the normal price of its input, minus `cost`.
 * Negative if writes to the cache cost more than reads from it saved.
 */
export function cacheSavingsOf(table: PriceTable, usage: Usage, cost = costOf(table, usage)): NanoUsd {
  const { inputUncached, cacheRead, cacheWrite5m, cacheWrite1h, audioInput, cacheReadAudio } = usage;
  const cached = cacheRead + cacheWrite5m + cacheWrite1h;
  if (cached + cacheReadAudio === 0) return 0;
  const none = { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheReadAudio: 0 };
  const input = { inputUncached: inputUncached + cached, audioInput: audioInput + cacheReadAudio };
  return costOf(table, { ...usage, ...none, ...input }) - cost;
}

/** The cost of a usage, and its classes that are free only because the table has no price for them. */
export function chargeOf(
  table: PriceTable,
  usage: Usage,
): { readonly cost: NanoUsd; readonly unpriced: readonly PricedClass[] } {
  const { prices, measures: priced, free, freeIfMeasured } = chargesOf(table, usage);
  const isMeasured = priced.length > 0 && someUsed(priced, usage);
  return { cost: costBy(prices, usage), unpriced: usedOf(isMeasured ? freeIfMeasured : free, usage) };
}

const none: readonly PricedClass[] = [];

/** The classes that were used, usually none. */
function usedOf(classes: ReadonlySet<PricedClass>, usage: Usage): readonly PricedClass[] {
  for (const name in usage) {
    if (usage[name as PricedClass] !== 0 && classes.has(name as PricedClass)) return filterUsed(classes, usage);
  }
  return none;
}

function filterUsed(classes: ReadonlySet<PricedClass>, usage: Usage): readonly PricedClass[] {
  return [...classes].filter((name) => usage[name] !== 0);
}

function someUsed(classes: readonly PricedClass[], usage: Usage): boolean {
  return classes.some((name) => usage[name] > 0);
}

function costBy(prices: Prices, usage: Usage): NanoUsd {
  let pico = 0;
  for (const { name, price } of prices) pico += usage[name] * price;
  // Terms are not negative, so below the limit every product and partial sum was exact. NaN takes the bigint path.
  return pico < exactPicoMax ? Math.floor((pico + picoPerNano / 2) / picoPerNano) : costWithBigint(prices, usage);
}

/** Classes with a price: few of all. */
type Prices = readonly { readonly name: PricedClass; readonly price: PicoUsd }[];

interface Charges {
  readonly prices: Prices;
  readonly input: Prices;
  /** Classes that are free only because the table has no price for them. */
  readonly free: ReadonlySet<PricedClass>;
  /** Measures other than tokens that have a price. */
  readonly measures: readonly PricedClass[];
  /** Replaces `free` if one of the measures was used. */
  readonly freeIfMeasured: ReadonlySet<PricedClass>;
}

function chargesOf(table: PriceTable, usage: Usage): Charges {
  const { plain, long, above } = tableCharges(table);
  return long !== null && inputTokensOf(usage) > above ? long : plain;
}

/** Whether the long-context prices apply to a request of this usage. */
export function isLongContext({ longContext }: PriceTable, usage: Usage): boolean {
  return longContext !== undefined && inputTokensOf(usage) > longContext.above;
}

/** The price of each class that has one, including classes that are charged as another one. */
export function classPrices(table: PriceTable, isLong: boolean): ReadonlyMap<PricedClass, PicoUsd> {
  const { plain, long } = tableCharges(table);
  return new Map((isLong ? (long ?? plain) : plain).prices.map(({ name, price }) => [name, price]));
}

/** Cached, because most classes have no price and need no check at each call. */
const tableCharges = oncePerObject((table: PriceTable) => {
  const { longContext } = table;
  return {
    plain: chargesBy(table),
    long: longContext === undefined ? null : chargesBy({ ...table, ...longContext.prices }),
    above: longContext?.above ?? Number.POSITIVE_INFINITY,
  };
});

function chargesBy(prices: ClassPrices): Charges {
  const has = (name: PricedClass): boolean => prices[name] !== undefined;
  const only = (names: readonly PricedClass[]): Prices =>
    names.filter(has).map((name) => ({ name, price: prices[name] ?? 0 }));
  const names = new Set(pricedClasses.filter(has));
  return {
    prices: only(pricedClasses),
    input: only(inputClasses),
    free: freeClasses(names, false),
    measures: measures.filter(has),
    freeIfMeasured: freeClasses(names, true),
  };
}

/** Charged in addition to everything else. */
const extras = ["webSearches", "mapSearches", "fileSearches", "codeSessions"] as const satisfies readonly PricedClass[];
/** An answer is charged by one of these measures, or by tokens. */
export const measures = [
  ...["images", "videoSeconds", "audioSeconds", "searchUnits", "characters", "chargedRequests"],
] as const satisfies readonly PricedClass[];
const tokens: readonly PricedClass[] = [...inputClasses, ...outputClasses];

/** Classes that are free: the price of a measure includes the tokens, and the price of tokens includes the measures. */
function freeClasses(priced: ReadonlySet<PricedClass>, byMeasure: boolean): ReadonlySet<PricedClass> {
  // A price without any value means that everything is free.
  if (priced.size === 0) return new Set();
  const byTokens = tokens.some((name) => priced.has(name));
  const counted = [...extras, ...(byMeasure ? [] : tokens), ...(byMeasure || byTokens ? [] : measures)];
  return new Set(counted.filter((name) => !priced.has(name)));
}

function costWithBigint(prices: Prices, usage: Usage): NanoUsd {
  let pico = 0n;
  for (const { name, price } of prices) pico += BigInt(Math.round(usage[name])) * BigInt(price);
  const nano = (pico + 500n) / 1_000n;
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano);
}
