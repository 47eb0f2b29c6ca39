import type { NanoUsd } from "./money.ts";
import {
  chargedPrices,
  costOf,
  multipliedPrice,
  type PricedClass,
  type PriceTable,
  type PriceVersion,
  pricedClasses,
  priceVariant,
  timesThousandths,
} from "./price.ts";
import { type PriceTerms, type Served, type ServedAxis, servedAxes, servedText } from "./served.ts";
import { otherModel } from "./served-model.ts";
import { inputClasses, outputClasses, type Usage, usageClassColumns } from "./usage.ts";

/** All that decides what is booked for an answer. */
export interface Settling {
  /** Of the model that was asked, as it was when the call was accepted. null: it has none. */
  readonly price: PriceVersion | null;
  readonly usage: Usage;
  /** Left out: the answer says nothing out of the ordinary. */
  readonly served?: Served | undefined;
  readonly terms: PriceTerms;
  readonly upstreamModel: string;
  /** The price of another model of the account, by the name that an answer gives it. null: it has none. */
  readonly priceOf?: ((model: string) => PriceVersion | null) | undefined;
  /** What the call costs at least (a price per call). Left out: nothing. */
  readonly floor?: PriceVersion | null | undefined;
}

/** What is booked: the members of an entry that are about money. */
export interface Settled {
  readonly costNanoUsd: NanoUsd;
  /** The version, variant and multiple that the cost is worked out by, or would be where the vendor's figure counts. */
  readonly priceVersion: string | null;
  /** Absent: the price times the usage. */
  readonly costSource?: "vendor";
  readonly vendorCostNanoUsd?: NanoUsd;
  /** Price times usage, where the vendor's figure counts and there is a price. */
  readonly ownCostNanoUsd?: NanoUsd;
  readonly served?: string;
  /** The model that the answer names, where it is another one than was asked. */
  readonly servedModel?: string;
  /** What was used and has no price, or one that is assumed: columns of usage, and axes of `Served`. Absent: nothing. */
  readonly unpriced?: readonly string[];
}

/** The one place where an answer becomes an amount. The same input gives the same amount, so that the ledger can be verified. */
export function settle({ floor = null, ...settling }: Settling): Settled {
  const settled = settleByPrice(settling);
  if (floor === null || settled.costSource === "vendor") return settled;
  const least = costOf(floor.table, settling.usage);
  return least <= settled.costNanoUsd ? settled : { ...settled, costNanoUsd: least, priceVersion: floor.id };
}

function settleByPrice({ usage, served, ...asked }: Omit<Settling, "floor">): Settled {
  if (asked.price === null && served === undefined) return unpricedPlain;
  const { terms } = asked;
  const other = otherModel(served?.model, asked.upstreamModel);
  const priced = priceOfServed(asked, served, other);
  const vendor = served?.vendorCostNanoUsd ?? 0;
  const isVendors = vendor > 0 && terms.costSource === "vendor";
  const unpriced = priced === null || isVendors ? [] : unpricedIn(priced, usage);
  const text = servedText(served);
  const own = priced === null ? 0 : costOf(priced.version.table, usage);
  return {
    costNanoUsd: isVendors ? vendor : own,
    priceVersion: priced?.version.id ?? null,
    ...(isVendors ? { costSource: "vendor" } : {}),
    ...(isVendors && priced !== null ? { ownCostNanoUsd: own } : {}),
    ...(vendor > 0 ? { vendorCostNanoUsd: vendor } : {}),
    ...(text === null ? {} : { served: text }),
    ...(other === null ? {} : { servedModel: other }),
    ...(unpriced.length === 0 ? {} : { unpriced }),
  };
}

const unpricedPlain: Settled = Object.freeze({ costNanoUsd: 0, priceVersion: null });

function unpricedIn({ version, assumed }: ServedPrice, usage: Usage): readonly string[] {
  return [...unpricedClasses(version.table, usage).map((name) => usageClassColumns[name]), ...assumed];
}

export interface ServedPrice {
  readonly version: PriceVersion;
  /** Axes whose factor nobody knows. */
  readonly assumed: readonly ServedAxis[];
}

type Asked = Pick<Settling, "price" | "terms" | "upstreamModel" | "priceOf">;

/** What an answer is charged by: the price of the model that it names, if that has one, in the variant that it says. null: none. */
export function servedPrice(asked: Asked, served: Served | undefined): ServedPrice | null {
  return priceOfServed(asked, served, otherModel(served?.model, asked.upstreamModel));
}

function priceOfServed(
  { price, terms, upstreamModel, priceOf }: Asked,
  served: Served | undefined,
  other: string | null,
): ServedPrice | null {
  if (other !== null && terms.routers?.test(upstreamModel) !== false) {
    const others = priceOf?.(other) ?? null;
    if (others !== null) return variantServed(others, served, terms, other);
  }
  return price === null ? null : variantServed(price, served, terms, upstreamModel);
}

/** The price's own variant where it has one, else the account's factors. */
function variantServed(
  price: PriceVersion,
  served: Served | undefined,
  terms: PriceTerms,
  upstreamModel: string,
): ServedPrice {
  if (served === undefined) return { version: price, assumed: none };
  const { price: version, covers } = priceVariant(price, served);
  const assumed: ServedAxis[] = [];
  let millionths = 1_000_000;
  for (const axis of servedAxes) {
    const word = served[axis];
    if (word === undefined || covers.has(axis)) continue;
    const rule = terms.factors.find(
      (each) => each.axis === axis && (each.word ?? word) === word && (each.models?.test(upstreamModel) ?? true),
    );
    millionths = timesThousandths(millionths, rule?.factor ?? 1_000);
    if (rule?.assumed === true) assumed.push(axis);
  }
  return { version: multipliedPrice(version, millionths), assumed };
}

const none: readonly ServedAxis[] = [];

/** Charged beside whatever else is. */
const fees = ["webSearches", "mapSearches", "fileSearches", "codeSessions"] as const satisfies readonly PricedClass[];
/** Other measures of the same work: a model is priced by one of them, or by tokens. */
const measures = [
  ...["images", "videoSeconds", "audioSeconds", "searchUnits", "characters", "chargedRequests"],
] as const satisfies readonly PricedClass[];
const tokens: readonly PricedClass[] = [...inputClasses, ...outputClasses];

/**
 * Classes that were used and that the table has no price for, so that nothing is charged for them. A model that is priced by another
 * measure has its tokens in that, and the other way round.
 */
function unpricedClasses(table: PriceTable, usage: Usage): readonly PricedClass[] {
  const prices = chargedPrices(table, usage);
  const has = (name: PricedClass): boolean => prices[name] !== undefined;
  // A price without any figure says that nothing costs anything.
  if (!pricedClasses.some(has)) return [];
  const unpriced = fees.filter((name) => usage[name] > 0 && !has(name)) as PricedClass[];
  const byMeasure = measures.some(has);
  if (!byMeasure) unpriced.push(...tokens.filter((name) => usage[name] > 0 && !has(name)));
  if (!byMeasure && !tokens.some(has)) unpriced.push(...measures.filter((name) => usage[name] > 0));
  return unpriced;
}
