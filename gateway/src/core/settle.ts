import type { NanoUsd } from "./money.ts";
import {
  cacheSavingsOf,
  chargeOf,
  costOf,
  multipliedPrice,
  type PricedClass,
  type PriceVersion,
  priceVariant,
  timesThousandths,
} from "./price.ts";
import {
  type CostSource,
  isPlain,
  otherModel,
  type PriceTerms,
  type Served,
  type ServedAxis,
  servedAxes,
  servedText,
} from "./served.ts";
import { type Usage, usageClassColumns } from "./usage.ts";

/** Everything that determines the cost of an answer. */
export interface Settling {
  /** Price of the requested model when the call was accepted; null if none. */
  readonly price: PriceVersion | null;
  readonly usage: Usage;
  /** Absent if the answer was served normally. */
  readonly served?: Served | undefined;
  readonly terms: PriceTerms;
  readonly upstreamModel: string;
  /** Price of another model of the account, by its name in the answer; null if none. */
  readonly priceOf?: ((model: string) => PriceVersion | null) | undefined;
  /** Minimum cost (a price per call). */
  readonly floor?: PriceVersion | null | undefined;
}

/** The members of an entry about money. */
export interface Settled {
  readonly costNanoUsd: NanoUsd;
  /** The price version, variant and multiple of the cost, also if the vendor's cost is booked. */
  readonly priceVersion: string | null;
  /** `price` if absent. */
  readonly costSource?: CostSource | "adjustment";
  /** The vendor's own cost, if reported. */
  readonly vendorCostNanoUsd?: NanoUsd;
  /** Price times usage, if the vendor's cost is booked. */
  readonly ownCostNanoUsd?: NanoUsd;
  /** Savings of the upstream's cache at the price version, if not 0; see `cacheSavingsOf`. */
  readonly cacheSavedNanoUsd?: NanoUsd;
  /** How the answer was served (`priority us fast`), if not normally. */
  readonly served?: string;
  /** The model named by the answer, if it differs from the requested one. */
  readonly servedModel?: string;
  /** Usage columns and axes without a price, or with an assumed one. */
  readonly unpriced?: readonly string[];
}

/** The only place where an answer becomes a cost. It is deterministic, so that the ledger can be verified. */
export function settle(settling: Settling): Settled {
  const { floor = null } = settling;
  const settled = settleByPrice(settling);
  if (floor === null || settled.costSource === "vendor") return settled;
  const least = costOf(floor.table, settling.usage);
  if (least <= settled.costNanoUsd) return settled;
  const { cacheSavedNanoUsd: _, ...others } = settled;
  return { ...others, costNanoUsd: least, priceVersion: floor.id };
}

function settleByPrice(settling: Settling): Settled {
  const { usage, served, terms } = settling;
  const other = otherModel(served?.model, settling.upstreamModel);
  if (isPlain(served)) return settlePlain(pricedModel(settling, other)?.price ?? null, usage, other);
  const priced = priceOfServed(settling, served, other);
  const vendor = served?.vendorCostNanoUsd ?? 0;
  const isVendors = vendor > 0 && terms.costSource === "vendor";
  const charge = priced === null ? null : chargeOf(priced.version.table, usage);
  const own = charge?.cost ?? 0;
  const saved = priced === null ? 0 : cacheSavingsOf(priced.version.table, usage, own);
  const unpriced =
    charge === null || priced === null || isVendors ? [] : [...columnsOf(charge.unpriced), ...priced.assumed];
  const text = servedText(served);
  return {
    costNanoUsd: isVendors ? vendor : own,
    priceVersion: priced?.version.id ?? null,
    ...(isVendors ? { costSource: "vendor" } : {}),
    ...(isVendors && priced !== null ? { ownCostNanoUsd: own } : {}),
    ...(vendor > 0 ? { vendorCostNanoUsd: vendor } : {}),
    ...(saved === 0 ? {} : { cacheSavedNanoUsd: saved }),
    ...(text === null ? {} : { served: text }),
    ...(other === null ? {} : { servedModel: other }),
    ...(unpriced.length === 0 ? {} : { unpriced }),
  };
}

/** The common case. */
function settlePlain(version: PriceVersion | null, usage: Usage, other: string | null): Settled {
  const settled: { -readonly [Member in keyof Settled]: Settled[Member] } = { costNanoUsd: 0, priceVersion: null };
  if (version !== null) {
    const { cost, unpriced } = chargeOf(version.table, usage);
    settled.costNanoUsd = cost;
    settled.priceVersion = version.id;
    const saved = cacheSavingsOf(version.table, usage, cost);
    if (saved !== 0) settled.cacheSavedNanoUsd = saved;
    if (unpriced.length > 0) settled.unpriced = columnsOf(unpriced);
  }
  if (other !== null) settled.servedModel = other;
  return settled;
}

function columnsOf(classes: readonly PricedClass[]): readonly string[] {
  return classes.map((name) => usageClassColumns[name]);
}

export interface ServedPrice {
  readonly version: PriceVersion;
  /** Axes whose factor is unknown. */
  readonly assumed: readonly ServedAxis[];
}

type PricingInput = Pick<Settling, "price" | "terms" | "upstreamModel" | "priceOf">;

/** The price of the model that the answer names, if any, in the variant it was served. null if there is none. */
export function servedPrice(pricing: PricingInput, served: Served | undefined): ServedPrice | null {
  return priceOfServed(pricing, served, otherModel(served?.model, pricing.upstreamModel));
}

function priceOfServed(pricing: PricingInput, served: Served | undefined, other: string | null): ServedPrice | null {
  const priced = pricedModel(pricing, other);
  return priced === null ? null : variantServed(priced.price, served, pricing.terms, priced.model);
}

/** The model named by the answer if it has a price, else the requested one. */
function pricedModel({ price, terms, upstreamModel, priceOf }: PricingInput, other: string | null) {
  if (other !== null && terms.routers?.test(upstreamModel) !== false) {
    const others = priceOf?.(other) ?? null;
    if (others !== null) return { price: others, model: other };
  }
  return price === null ? null : { price, model: upstreamModel };
}

/** Uses the price's own variant, else the factors of the account. */
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
