import type { NanoUsd } from "./money.ts";
import {
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
  readonly costSource?: CostSource;
  /** What the vendor says the call costs. Absent: it does not say. */
  readonly vendorCostNanoUsd?: NanoUsd;
  /** Price times usage, where the vendor's figure counts. Absent: it does not, or there is no price. */
  readonly ownCostNanoUsd?: NanoUsd;
  /** What the answer says about how it was served (`priority us fast`). Absent: nothing out of the ordinary. */
  readonly served?: string;
  /** The model that the answer names, where it is another one than was asked. Absent: it is that, or none is named. */
  readonly servedModel?: string;
  /** What was used and has no price, or an assumed one: columns of usage, `tier`, `geo`, `speed`. Absent: nothing. */
  readonly unpriced?: readonly string[];
}

/** The one place where an answer becomes an amount. The same input gives the same amount, so that the ledger can be verified. */
export function settle(settling: Settling): Settled {
  const { floor = null } = settling;
  const settled = settleByPrice(settling);
  if (floor === null || settled.costSource === "vendor") return settled;
  const least = costOf(floor.table, settling.usage);
  return least <= settled.costNanoUsd ? settled : { ...settled, costNanoUsd: least, priceVersion: floor.id };
}

function settleByPrice(asked: Settling): Settled {
  const { usage, served, terms } = asked;
  const other = otherModel(served?.model, asked.upstreamModel);
  if (isPlain(served)) return settlePlain(pricedModel(asked, other)?.price ?? null, usage, other);
  const priced = priceOfServed(asked, served, other);
  const vendor = served?.vendorCostNanoUsd ?? 0;
  const isVendors = vendor > 0 && terms.costSource === "vendor";
  const charge = priced === null ? null : chargeOf(priced.version.table, usage);
  const own = charge?.cost ?? 0;
  const unpriced =
    charge === null || priced === null || isVendors ? [] : [...columnsOf(charge.unpriced), ...priced.assumed];
  const text = servedText(served);
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

/** Most answers. */
function settlePlain(version: PriceVersion | null, usage: Usage, other: string | null): Settled {
  const settled: { -readonly [Member in keyof Settled]: Settled[Member] } = { costNanoUsd: 0, priceVersion: null };
  if (version !== null) {
    const { cost, unpriced } = chargeOf(version.table, usage);
    settled.costNanoUsd = cost;
    settled.priceVersion = version.id;
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
  /** Axes whose factor nobody knows. */
  readonly assumed: readonly ServedAxis[];
}

type Asked = Pick<Settling, "price" | "terms" | "upstreamModel" | "priceOf">;

/** What an answer is charged by: the price of the model that it names, if that has one, in the variant that it says. null: none. */
export function servedPrice(asked: Asked, served: Served | undefined): ServedPrice | null {
  return priceOfServed(asked, served, otherModel(served?.model, asked.upstreamModel));
}

function priceOfServed(asked: Asked, served: Served | undefined, other: string | null): ServedPrice | null {
  const priced = pricedModel(asked, other);
  return priced === null ? null : variantServed(priced.price, served, asked.terms, priced.model);
}

/** The model that is charged: the one that the answer names if it has a price, else the one that was asked. */
function pricedModel({ price, terms, upstreamModel, priceOf }: Asked, other: string | null) {
  if (other !== null && terms.routers?.test(upstreamModel) !== false) {
    const others = priceOf?.(other) ?? null;
    if (others !== null) return { price: others, model: other };
  }
  return price === null ? null : { price, model: upstreamModel };
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
