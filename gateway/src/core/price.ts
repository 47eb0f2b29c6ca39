import { usageTable } from "@sluice/contract/words";
import type { NanoUsd, PicoUsd } from "./money.ts";
import { inputTokensOf, type Usage } from "./usage.ts";

/** Pico-USD for one unit of each usage class. A class without a price costs nothing. `reasoning` is paid as output. */
export type ClassPrices = { readonly [K in Exclude<keyof Usage, "reasoning" | "unexplained">]?: PicoUsd };

/** What a whole request costs whose input, cached and written tokens included, is larger than `above` tokens. */
export interface LongContextPrices {
  readonly above: number;
  /** Of the classes that cost something else then. */
  readonly prices: ClassPrices;
}

export type PriceTable = ClassPrices & { readonly longContext?: LongContextPrices };

/** Other prices for videos of a resolution, or with or without sound. null: whichever. */
export interface PriceVariant {
  readonly resolution: string | null;
  readonly audio: boolean | null;
  readonly table: PriceTable;
}

/** One immutable version of a model's price. `effectiveFrom` is Unix milliseconds. */
export interface PriceVersion {
  readonly id: string;
  readonly model: string;
  readonly table: PriceTable;
  readonly variants?: readonly PriceVariant[];
  readonly effectiveFrom: number;
  /** It was taken from the catalogue of prices; left out: somebody set it. */
  readonly origin?: "catalogue";
}

/**
 * The price of one kind of video: a version of its own, named after the one it is a variant of, so that an entry that was
 * paid by it can be worked out again. The most exact variant counts, among equals the first; without one, the version itself.
 */
export function priceVariant(
  price: PriceVersion,
  video: { readonly resolution: string | null; readonly audio: boolean | null },
): PriceVersion {
  let best = -1;
  let bestExactness = 0;
  price.variants?.forEach((variant, index) => {
    if (variant.resolution !== null && variant.resolution.toLowerCase() !== video.resolution?.toLowerCase()) return;
    if (variant.audio !== null && variant.audio !== video.audio) return;
    const exactness = (variant.resolution === null ? 0 : 2) + (variant.audio === null ? 0 : 1) + 1;
    if (exactness <= bestExactness) return;
    best = index;
    bestExactness = exactness;
  });
  return best === -1 ? price : variantAt(price, best);
}

/** The variant that a version id names (`prc_…@2`), or the version itself; null when it has no such variant. */
export function variantNamed(price: PriceVersion, versionId: string): PriceVersion | null {
  if (versionId === price.id) return price;
  const index = Number(versionId.slice(price.id.length + 1));
  return price.variants?.[index] === undefined ? null : variantAt(price, index);
}

/** The version that a variant's id belongs to. */
export function baseVersionId(versionId: string): string {
  return versionId.split("@", 1)[0] ?? versionId;
}

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

function variantAt(price: PriceVersion, index: number): PriceVersion {
  const variant = price.variants?.[index];
  const table = { ...price.table, ...variant?.table };
  return { id: `${price.id}@${index}`, model: price.model, table, effectiveFrom: price.effectiveFrom };
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
  const { plain, long, above } = chargesOf(table);
  const charges = long !== null && inputTokensOf(usage) > above ? long : plain;
  const { names, prices } = charges;
  let pico = 0;
  for (let at = 0; at < names.length; at++) pico += usage[names[at] as PricedClass] * (prices[at] as PicoUsd);
  // Terms are not negative: below the limit every product and partial sum was exact. Asked this way round, what is not
  // a number goes the other way too.
  return pico < exactPicoMax ? Math.floor((pico + picoPerNano / 2) / picoPerNano) : costWithBigint(charges, usage);
}

/** The classes that a table has a price for, and their prices beside them. */
interface Charges {
  readonly names: readonly PricedClass[];
  readonly prices: readonly PicoUsd[];
}

interface TableCharges {
  readonly plain: Charges;
  readonly long: Charges | null;
  readonly above: number;
}

/** By table object, which never changes: most classes have no price, and need not be looked at for each call. */
const charges = new WeakMap<PriceTable, TableCharges>();

function chargesOf(table: PriceTable): TableCharges {
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
  const names = pricedClasses.filter((name) => prices[name] !== undefined);
  return { names, prices: names.map((name) => prices[name] ?? 0) };
}

function costWithBigint({ names, prices }: Charges, usage: Usage): NanoUsd {
  let pico = 0n;
  for (const [at, name] of names.entries()) pico += BigInt(Math.round(usage[name])) * BigInt(prices[at] ?? 0);
  const nano = (pico + 500n) / 1_000n;
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano);
}
