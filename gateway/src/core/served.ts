import { BoundedMap } from "./bounded-map.ts";
import type { NanoUsd } from "./money.ts";

/** Facts other than usage that change the price of an answer. */
export type ServedAxis = "tier" | "geo" | "speed";

export const servedAxes: readonly ServedAxis[] = ["tier", "geo", "speed"];

/**
 * How an answer was served, in the vendor's words as `readServed` writes them. An absent axis is the normal one, which prices are
 * written for.
 */
export type Served = { readonly [Axis in ServedAxis]?: string } & {
  /** The model named by the answer. */
  readonly model?: string;
  /** The vendor used another model after the first one declined. */
  readonly byFallback?: true;
  /** The vendor's own cost of the call. */
  readonly vendorCostNanoUsd?: NanoUsd;
};

/** Multiplies the price of answers that were served in a certain way. The first rule that matches applies. */
export interface PriceFactor {
  readonly axis: ServedAxis;
  /** Any word if absent. */
  readonly word?: string;
  /** In thousandths. */
  readonly factor: number;
  /** Upstream models it applies to; all if absent. */
  readonly models?: RegExp;
  /** The factor is unknown, so the highest of any vendor is used: a more expensive answer must never be booked as a normal one. */
  readonly assumed?: true;
}

/** How an account charges, from its kind and settings. */
export interface PriceTerms {
  /**
   * Models whose answers are priced by the model that the answer names; all if absent. Azure's deployments have their own names, so
   * their answers always name another model.
   */
  readonly routers?: RegExp;
  /** Which cost is booked if the vendor reports one. */
  readonly costSource: CostSource;
  readonly factors: readonly PriceFactor[];
}

/** Usage times price, or the vendor's cost. */
export type CostSource = "price" | "vendor";

/** Defaults for every kind of upstream. Discounts are ignored here. */
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

/** Only the axes, without cost and model. */
export function axesOf(served: Served | undefined): Served | undefined {
  if (served === undefined) return undefined;
  const { vendorCostNanoUsd: _, model: __, ...axes } = served;
  return axes;
}

/** Whether nothing changes the price and there is no vendor cost. */
export function isPlain(served: Served | undefined): boolean {
  if (served === undefined) return true;
  const { tier, geo, speed, vendorCostNanoUsd } = served;
  return tier === undefined && geo === undefined && speed === undefined && vendorCostNanoUsd === undefined;
}

/** As stored in the ledger: `priority us fast`. null if normal. */
export function servedText(served: Served | undefined): string | null {
  if (served === undefined) return null;
  const words = servedAxes.flatMap((axis) => served[axis] ?? []);
  return words.length === 0 ? null : words.join(" ");
}

/** The model named by an answer if it differs from the requested one. A dated snapshot counts as the same model. */
export function otherModel(named: string | undefined, upstreamModel: string): string | null {
  if (named === undefined || named === upstreamModel || undated(named) === undated(upstreamModel)) return null;
  return named;
}

/** Looks up a model by its name in an answer, with or without date. */
export function findByModelName<Found>(byName: ReadonlyMap<string, Found>, named: string): Found | undefined {
  return byName.get(named) ?? byName.get(bare(named)) ?? byName.get(undated(named));
}

function undated(name: string): string {
  const cached = undatedNames.get(name);
  if (cached !== undefined) return cached;
  const short = bare(name).toLowerCase().replace(prefix, "").replace(version, "").replace(snapshot, "");
  undatedNames.set(name, short);
  return short;
}

/** Answers name few models. */
const undatedNames = new BoundedMap<string, string>(1_000);

/** Without vendors' prefixes: `models/gemini-3-flash`, `openai/gpt-6`, an ARN. */
function bare(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Bedrock's `us.anthropic.` and `-v1:0`. */
const prefix = /^(?:[a-z]+(?:-[a-z]+)*\.)+(?=[a-z])/;
const version = /-v\d{1,2}(?::\d{1,2})?$/;
/** `-2026-08-07`, `-20260807`, `@20260807`, `-250615`, `-0613`, `-05-20`, `-09-2026`, `-001`, `-latest`. */
const snapshot = /(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{2}-\d{2}(?:\d{2})?|\d{3,4}|latest|default))$/;
