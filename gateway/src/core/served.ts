import { BoundedMap } from "./bounded-map.ts";
import type { NanoUsd } from "./money.ts";

/** What may change the price of an answer beside its usage. */
export type ServedAxis = "tier" | "geo" | "speed";

export const servedAxes: readonly ServedAxis[] = ["tier", "geo", "speed"];

/**
 * What an answer says about how it was served, in the vendors' words as `readServed` writes them. An axis that is left out is the
 * plain one, which the prices of a model are written for.
 */
export type Served = { readonly [Axis in ServedAxis]?: string } & {
  /** The model that the answer names. Absent: it names none. */
  readonly model?: string;
  /** The vendor asked another model after the first one had declined. */
  readonly byFallback?: true;
  /** What the vendor says the call costs. Absent: it does not say. */
  readonly vendorCostNanoUsd?: NanoUsd;
};

/** How many times the plain price an answer costs that was served so. The first rule that fits counts. */
export interface PriceFactor {
  readonly axis: ServedAxis;
  /** Left out: whatever word. */
  readonly word?: string;
  /** In thousandths. */
  readonly factor: number;
  /** Upstream models that it is for. Left out: all. */
  readonly models?: RegExp;
  /** Nobody knows: it is the most that any vendor charges, so that a dearer answer is never booked as a plain one. */
  readonly assumed?: true;
}

/** How an account charges: known from its kind, and from its settings. */
export interface PriceTerms {
  /**
   * Names of models whose answers are priced by the model that they name. Left out: all. Where a deployment has a name of its own
   * (Azure), its answers always name another one.
   */
  readonly routers?: RegExp;
  /** Which of two figures is booked where the vendor says what a call costs. */
  readonly costSource: CostSource;
  readonly factors: readonly PriceFactor[];
}

/** What a cost comes from: usage times price, or the vendor's own figure. */
export type CostSource = "price" | "vendor";

/** What is so at every kind of upstream that says nothing else. What is cheaper somewhere costs as usual here. */
export const usualFactors: readonly PriceFactor[] = [
  ...["flex", "batch", "offpeak", "scale", "reserved", "provisioned"].map(
    (word): PriceFactor => ({ axis: "tier", word, factor: 1_000 }),
  ),
  { axis: "tier", word: "ultrafast", factor: 6_000, assumed: true },
  { axis: "tier", factor: 2_000, assumed: true },
  { axis: "geo", factor: 1_100, assumed: true },
  { axis: "speed", factor: 6_000, assumed: true },
];

export const usualTerms: PriceTerms = Object.freeze({ costSource: "price", factors: usualFactors });

/** Without the vendor's figure and the model, which are of the whole call, or not of this part of it. */
export function axesOf(served: Served | undefined): Served | undefined {
  if (served === undefined) return undefined;
  const { vendorCostNanoUsd: _, model: __, ...axes } = served;
  return axes;
}

/** Nothing that changes a price, and no cost. */
export function isPlain(served: Served | undefined): boolean {
  if (served === undefined) return true;
  const { tier, geo, speed, vendorCostNanoUsd } = served;
  return tier === undefined && geo === undefined && speed === undefined && vendorCostNanoUsd === undefined;
}

/** As the ledger keeps it: `priority us fast`. null: nothing out of the ordinary. */
export function servedText(served: Served | undefined): string | null {
  if (served === undefined) return null;
  const words = servedAxes.flatMap((axis) => served[axis] ?? []);
  return words.length === 0 ? null : words.join(" ");
}

/**
 * The model that served, where an answer names another one than was asked for; null: the same one, or none is named. A dated
 * snapshot is the model that it is a snapshot of.
 */
export function otherModel(named: string | undefined, upstreamModel: string): string | null {
  if (named === undefined || named === upstreamModel || undated(named) === undated(upstreamModel)) return null;
  return named;
}

/** Finds the prices of a model by the name that an answer gives it: that name itself, else the name without its date. */
export function findByModelName<Found>(known: ReadonlyMap<string, Found>, named: string): Found | undefined {
  return known.get(named) ?? known.get(bare(named)) ?? known.get(undated(named));
}

function undated(name: string): string {
  const known = undatedNames.get(name);
  if (known !== undefined) return known;
  const short = bare(name).toLowerCase().replace(prefix, "").replace(version, "").replace(snapshot, "");
  undatedNames.set(name, short);
  return short;
}

/** Every answer names its model, and most name one of few. */
const undatedNames = new BoundedMap<string, string>(1_000);

/** Without the folders that vendors write in front of it: `models/gemini-3-flash`, `openai/gpt-6`, an ARN. */
function bare(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Of Bedrock: `us.anthropic.`, and `-v1:0` at the end. */
const prefix = /^(?:[a-z]+(?:-[a-z]+)*\.)+(?=[a-z])/;
const version = /-v\d{1,2}(?::\d{1,2})?$/;
/** `-2026-08-07`, `-20260807`, `@20260807`, `-250615`, `-0613`, `-05-20`, `-09-2026`, `-001`, `-latest`. */
const snapshot = /(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{2}-\d{2}(?:\d{2})?|\d{3,4}|latest|default))$/;
