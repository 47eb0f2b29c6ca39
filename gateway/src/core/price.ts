import { usageTable } from "@sluice/contract/words";
import type { NanoUsd, PicoUsd } from "./money.ts";
import { inputClasses, inputTokensOf, outputClasses, type Usage } from "./usage.ts";

/** Pico-USD for one unit of each usage class. A class without a price costs nothing. `reasoning` is paid as output. */
export type ClassPrices = { readonly [K in Exclude<keyof Usage, "reasoning" | "unexplained">]?: PicoUsd };

/** What a whole request costs whose input, cached and written tokens included, is larger than `above` tokens. */
export interface LongContextPrices {
  readonly above: number;
  /** Of the classes that cost something else then. */
  readonly prices: ClassPrices;
}

export type PriceTable = ClassPrices & { readonly longContext?: LongContextPrices };

/**
 * Other prices for some calls: videos of a resolution, with or without sound; answers of a service tier, from a region, at a
 * speed. An axis that is null or left out: whichever.
 */
export interface PriceVariant extends Partial<VariantTraits> {
  /** Thousandths of the model's prices, but for fees (see `scaledPrices`). Left out: 1,000. */
  readonly multiplier?: number;
  /** Of the classes that have a price of their own. */
  readonly table: ClassPrices;
}

/** What decides which variant a call is charged by. null: not known, or the plain one. */
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
  /** It was taken from the price list; left out: somebody set it. */
  readonly origin?: "catalogue";
}

/** From the one that matters least: among variants that fit, the one with the weightier axes is the most exact. */
const variantAxes: readonly VariantAxis[] = ["audio", "resolution", "geo", "speed", "tier"];

/**
 * The price of one kind of call: a version of its own, whose id leads back to it (`prc_…@2*1100000`), so that an entry that was
 * paid by it can be worked out again. Of the variants with prices of their own the most exact one counts, among equals the first;
 * those that only multiply are multiplied with it as long as they are about other axes. `covers`: the axes that they are about.
 */
export function priceVariant(price: PriceVersion, traits: Partial<VariantTraits>) {
  if (price.variants === undefined) return { price, covers: noAxes };
  const covers = new Set<VariantAxis>();
  const own = mostExact(price.variants, traits, covers, hasOwnPrices);
  const chosen = own === null ? price : variantAt(price, own);
  let millionths = whole;
  for (let next = own; ; ) {
    for (const axis of next === null ? [] : axesOf(price.variants[next])) covers.add(axis);
    next = mostExact(price.variants, traits, covers, (variant) => !hasOwnPrices(variant));
    if (next === null) return { price: multipliedPrice(chosen, millionths), covers };
    millionths = timesThousandths(millionths, price.variants[next]?.multiplier ?? thousandths);
  }
}

/** Of a video, by what was asked for. */
export function videoPrice(price: PriceVersion, asked: Pick<VariantTraits, "resolution" | "audio">): PriceVersion {
  return priceVariant(price, asked).price;
}

const noAxes: ReadonlySet<VariantAxis> = new Set();

function hasOwnPrices({ table }: PriceVariant): boolean {
  return Object.keys(table).length > 0;
}

function mostExact(
  variants: readonly PriceVariant[],
  traits: Partial<VariantTraits>,
  covered: ReadonlySet<VariantAxis>,
  counts: (variant: PriceVariant) => boolean,
): number | null {
  let best: number | null = null;
  let bestExactness = -1;
  for (const [index, variant] of variants.entries()) {
    const axes = axesOf(variant);
    if (!counts(variant) || axes.some((axis) => covered.has(axis) || !isSame(variant[axis], traits[axis]))) continue;
    // One that is for all calls is for those that no other covers.
    if (axes.length === 0 && covered.size > 0) continue;
    const exactness = axes.reduce((sum, axis) => sum + 2 ** variantAxes.indexOf(axis), 0);
    if (exactness <= bestExactness) continue;
    best = index;
    bestExactness = exactness;
  }
  return best;
}

function axesOf(variant: PriceVariant | undefined): readonly VariantAxis[] {
  return variantAxes.filter((axis) => (variant?.[axis] ?? null) !== null);
}

function isSame(one: VariantTraits[VariantAxis] | undefined, other: VariantTraits[VariantAxis] | undefined): boolean {
  return String(one).toLowerCase() === String(other).toLowerCase();
}

/** The version that an id names: itself, a variant of it, either of them multiplied; null when it has no such variant. */
export function variantNamed(price: PriceVersion, versionId: string): PriceVersion | null {
  const [found, index, factors = ""] = /^(?:@(\d+))?((?:\*\d{1,12})*)$/.exec(versionId.slice(price.id.length)) ?? [];
  if (found === undefined || (index !== undefined && price.variants?.[Number(index)] === undefined)) return null;
  const base = index === undefined ? price : variantAt(price, Number(index));
  return factors.split("*").slice(1).map(Number).reduce(multipliedPrice, base);
}

/** The version that a variant's id belongs to. */
export function baseVersionId(versionId: string): string {
  return versionId.split(/[@*]/, 1)[0] ?? versionId;
}

const thousandths = 1_000;
const whole = 1_000_000;

/** `millionths` and a factor in thousandths, in millionths again; what is left over is rounded up. */
export function timesThousandths(millionths: number, factor: number): number {
  return Math.ceil((millionths * factor) / thousandths);
}

/** By version object and factor, which are few: those of the kinds and of the variants. */
const multiplied = new WeakMap<PriceVersion, Map<number, PriceVersion>>();

/** The same version so many times as dear, in millionths. */
export function multipliedPrice(price: PriceVersion, millionths: number): PriceVersion {
  if (millionths === whole) return price;
  const made = multiplied.get(price) ?? new Map<number, PriceVersion>();
  multiplied.set(price, made);
  let version = made.get(millionths);
  if (version === undefined) {
    const { id, model, table, effectiveFrom } = price;
    version = { id: `${id}*${millionths}`, model, table: scaledTable(table, millionths), effectiveFrom };
    made.set(millionths, version);
  }
  return version;
}

function scaledTable({ longContext, ...prices }: PriceTable, millionths: number): PriceTable {
  const table = scaledPrices(prices, millionths);
  if (longContext === undefined) return table;
  return { ...table, longContext: { ...longContext, prices: scaledPrices(longContext.prices, millionths) } };
}

/** Fees, which are written by the thousand (searches, sessions, requests), cost the same at every tier. */
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

/** What each call costs, as a version that its id says whole (`call:…`, in nano-USD): no row holds it, and it never changes. */
export function pricePerCall(nanoUsd: NanoUsd): PriceVersion {
  const table: PriceTable = { chargedRequests: nanoUsd * picoPerNano };
  return { id: `${perCall}${nanoUsd}`, model: "", table, effectiveFrom: 0 };
}

/** The version that such an id says; null for any other id. */
export function pricePerCallNamed(versionId: string): PriceVersion | null {
  const amount = versionId.startsWith(perCall) ? versionId.slice(perCall.length) : "";
  return /^\d{1,13}$/.test(amount) ? pricePerCall(Number(amount)) : null;
}

const perCall = "call:";

/** A class with a price of its own costs that in a long context too, where the long context's is not dearer. */
function variantAt(price: PriceVersion, index: number): PriceVersion {
  const { multiplier = thousandths, table: own = {} } = price.variants?.[index] ?? {};
  const base = scaledTable(price.table, timesThousandths(whole, multiplier));
  const { longContext } = base;
  const table: PriceTable = { ...base, ...own };
  const { id, model, effectiveFrom } = price;
  if (longContext === undefined) return { id: `${id}@${index}`, model, table, effectiveFrom };
  const prices = Object.fromEntries(
    pricedClasses.flatMap((name) => {
      const long = longContext.prices[name];
      return long === undefined ? [] : [[name, Math.max(long, own[name] ?? 0)]];
    }),
  );
  return {
    id: `${id}@${index}`,
    model,
    table: { ...table, longContext: { above: longContext.above, prices } },
    effectiveFrom,
  };
}

export type PricedClass = keyof ClassPrices;

export const pricedClasses: readonly PricedClass[] = usageTable.flatMap((row) =>
  row.price === null ? [] : [row.name],
);

/** The prices that a request of this usage is charged by: those of a long context, or the plain ones. */
export function chargedPrices(table: PriceTable, usage: Usage): ClassPrices {
  const { longContext } = table;
  if (longContext === undefined || inputTokensOf(usage) <= longContext.above) return table;
  return { ...table, ...longContext.prices };
}

const picoPerNano = 1_000;
const exactPicoMax = Number.MAX_SAFE_INTEGER - picoPerNano;

/**
 * What a usage costs: the sum over classes of count × price, rounded once, half up, from pico-USD to nano-USD.
 * Exact: a product or sum that a number cannot hold is computed again with bigint. An amount beyond what
 * NanoUsd can hold stays at the largest it can.
 */
export function costOf(table: PriceTable, usage: Usage): NanoUsd {
  return costBy(chargesOf(table, usage).prices, usage);
}

/** What the input of a usage costs. */
export function inputCostOf(table: PriceTable, usage: Usage): NanoUsd {
  return costBy(chargesOf(table, usage).input, usage);
}

/** The cost of a usage, and the classes of it that the table has no price for, so that nothing is charged for them. */
export function chargeOf(
  table: PriceTable,
  usage: Usage,
): { readonly cost: NanoUsd; readonly unpriced: readonly PricedClass[] } {
  const { prices, measures: priced, free, freeBeside } = chargesOf(table, usage);
  const isMeasured = priced.length > 0 && priced.some((name) => usage[name] > 0);
  return { cost: costBy(prices, usage), unpriced: usedOf(isMeasured ? freeBeside : free, usage) };
}

const none: readonly PricedClass[] = [];

/** Those of the classes that were used, in their order: mostly none. */
function usedOf(classes: ReadonlySet<PricedClass>, usage: Usage): readonly PricedClass[] {
  for (const name in usage) {
    if (usage[name as PricedClass] === 0 || !classes.has(name as PricedClass)) continue;
    return [...classes].filter((each) => usage[each] !== 0);
  }
  return none;
}

/** `in` reads the members of one object faster than a list of their names does, and most of them are 0. */
function costBy(prices: Prices, usage: Usage): NanoUsd {
  let pico = 0;
  for (const name in usage) {
    const count = usage[name as PricedClass];
    const price = count === 0 ? undefined : prices.get(name as PricedClass);
    if (price !== undefined) pico += count * price;
  }
  // Terms are not negative: below the limit every product and partial sum was exact. Asked this way round, what is not
  // a number goes the other way too.
  return pico < exactPicoMax ? Math.floor((pico + picoPerNano / 2) / picoPerNano) : costWithBigint(prices, usage);
}

/** Of the classes that have one. */
type Prices = ReadonlyMap<PricedClass, PicoUsd>;

interface Charges {
  readonly prices: Prices;
  readonly input: Prices;
  /** Classes that cost nothing only because the table has no price for them. */
  readonly free: ReadonlySet<PricedClass>;
  /** Measures other than tokens that have a price; and what is free where one of them was used. */
  readonly measures: readonly PricedClass[];
  readonly freeBeside: ReadonlySet<PricedClass>;
}

interface TableCharges {
  readonly plain: Charges;
  readonly long: Charges | null;
  readonly above: number;
}

/** By table object, which never changes: most classes have no price, and need not be looked at for each call. */
const charges = new WeakMap<PriceTable, TableCharges>();

/** Those of a long context, or the plain ones. */
function chargesOf(table: PriceTable, usage: Usage): Charges {
  const { plain, long, above } = tableCharges(table);
  return long !== null && inputTokensOf(usage) > above ? long : plain;
}

function tableCharges(table: PriceTable): TableCharges {
  let known = charges.get(table);
  if (known === undefined) {
    const { longContext } = table;
    known = {
      plain: chargesBy(table),
      long: longContext === undefined ? null : chargesBy({ ...table, ...longContext.prices }),
      above: longContext?.above ?? Number.POSITIVE_INFINITY,
    };
    charges.set(table, known);
  }
  return known;
}

function chargesBy(prices: ClassPrices): Charges {
  const has = (name: PricedClass): boolean => prices[name] !== undefined;
  const only = (names: readonly PricedClass[]): Prices =>
    new Map(names.filter(has).map((name) => [name, prices[name] ?? 0]));
  const names = new Set(pricedClasses.filter(has));
  return {
    prices: only(pricedClasses),
    input: only(inputClasses),
    free: freeClasses(names, false),
    measures: measures.filter(has),
    freeBeside: freeClasses(names, true),
  };
}

/** Charged beside whatever else is. */
const extras = ["webSearches", "mapSearches", "fileSearches", "codeSessions"] as const satisfies readonly PricedClass[];
/** Other measures of the same work: an answer is charged by one of them, or by tokens. */
export const measures = [
  ...["images", "videoSeconds", "audioSeconds", "searchUnits", "characters", "chargedRequests"],
] as const satisfies readonly PricedClass[];
const tokens: readonly PricedClass[] = [...inputClasses, ...outputClasses];

/** An answer that is charged by another measure has its tokens in that, and the other way round. */
function freeClasses(priced: ReadonlySet<PricedClass>, byMeasure: boolean): ReadonlySet<PricedClass> {
  // A price without any figure says that nothing costs anything.
  if (priced.size === 0) return new Set();
  const byTokens = tokens.some((name) => priced.has(name));
  const counted = [...extras, ...(byMeasure ? [] : tokens), ...(byMeasure || byTokens ? [] : measures)];
  return new Set(counted.filter((name) => !priced.has(name)));
}

function costWithBigint(prices: Prices, usage: Usage): NanoUsd {
  let pico = 0n;
  for (const [name, price] of prices) pico += BigInt(Math.round(usage[name])) * BigInt(price);
  const nano = (pico + 500n) / 1_000n;
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano);
}
