import { type BillCause, type BillClass, billClasses } from "@sluice/contract/words";
import { type NanoUsd, otherModel } from "#core/index.ts";
import type { BilledUsage } from "#ports/index.ts";
import type { BillLine } from "./bill.ts";
import { type OurClass, type OurModel, ourUsage } from "./our-usage.ts";

/** A reason for a part of a difference. Amounts are the bill's minus ours. */
interface Cause {
  readonly cause: BillCause;
  /** null: not a difference in units. */
  readonly units: number | null;
  readonly nanoUsd: NanoUsd;
}

/** One model and class of a day: ours, theirs, and why they differ. */
export interface ComparedLine {
  readonly model: string;
  readonly usageClass: BillClass;
  /** The gateway's models that the vendor's model served. */
  readonly ourModels: readonly string[];
  readonly ourUnits: number;
  readonly ourNanoUsd: NanoUsd;
  /** Adjustments that were booked; not part of `ourNanoUsd`. */
  readonly adjustedNanoUsd: NanoUsd;
  /** null: the bill has no units. */
  readonly theirUnits: number | null;
  readonly theirNanoUsd: NanoUsd;
  /** Theirs minus ours and minus adjustments. */
  readonly differenceNanoUsd: NanoUsd;
  readonly isMatched: boolean;
  readonly causes: readonly Cause[];
  /** Pico-USD per unit that the vendor charged, if the price is wrong and all units have the standard tier. */
  readonly vendorPicoUsd: number | null;
}

export interface ComparedDay {
  readonly lines: readonly ComparedLine[];
  readonly ourNanoUsd: NanoUsd;
  readonly theirNanoUsd: NanoUsd;
  readonly estimatedNanoUsd: NanoUsd;
  readonly foreignNanoUsd: NanoUsd;
  readonly differingNanoUsd: NanoUsd;
}

export interface Comparison {
  /** Of one day. */
  readonly bill: readonly BillLine[];
  readonly entries: readonly BilledUsage[];
  /** Entries of the previous day. */
  readonly before: readonly BilledUsage[];
  /** Differences up to this share of the larger amount are no differences. */
  readonly tolerance: number;
}

interface TheirClass {
  units: number | null;
  nanoUsd: NanoUsd | null;
  readonly tiers: Map<string, number>;
}

interface TheirModel {
  readonly classes: Map<BillClass, TheirClass>;
  requests: number | null;
}

/** Compares the bill of one day with the ledger, and explains each difference. */
export function compareDay({ bill, entries, before, tolerance }: Comparison): ComparedDay {
  const ours = ourUsage(entries, before);
  const theirs = theirUsage(bill, [...ours.keys()]);
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].toSorted();
  const lines = names.flatMap((name) => modelLines(name, ours.get(name), theirs.get(name), tolerance));
  const sum = (amountOf: (line: ComparedLine) => number) => lines.reduce((all, line) => all + amountOf(line), 0);
  const causedBy = (...causes: readonly BillCause[]) =>
    sum((line) => causesIn(line, causes).reduce((all, { nanoUsd }) => all + Math.abs(nanoUsd), 0));
  return {
    lines,
    ourNanoUsd: sum((line) => line.ourNanoUsd + line.adjustedNanoUsd),
    theirNanoUsd: sum((line) => line.theirNanoUsd),
    estimatedNanoUsd: causedBy("estimated", "broken_streams"),
    foreignNanoUsd: causedBy("past_gateway"),
    differingNanoUsd: sum((line) => (line.isMatched ? 0 : Math.abs(line.differenceNanoUsd))),
  };
}

function causesIn(line: ComparedLine, causes: readonly BillCause[]): readonly Cause[] {
  return line.isMatched ? [] : line.causes.filter(({ cause }) => causes.includes(cause));
}

/** The rows of the bill by our names of the models: the bill may name dated versions. */
function theirUsage(bill: readonly BillLine[], ourNames: readonly string[]): ReadonlyMap<string, TheirModel> {
  const models = new Map<string, TheirModel>();
  for (const line of bill) {
    const exact = ourNames.includes(line.model) ? line.model : undefined;
    const name =
      exact ?? ourNames.find((own) => line.model !== "" && otherModel(line.model, own) === null) ?? line.model;
    const model = models.get(name) ?? { classes: new Map(), requests: null };
    models.set(name, model);
    if (line.requests !== null) model.requests = (model.requests ?? 0) + line.requests;
    const own = model.classes.get(line.usageClass) ?? { units: null, nanoUsd: null, tiers: new Map() };
    model.classes.set(line.usageClass, own);
    if (line.units !== null) {
      own.units = (own.units ?? 0) + line.units;
      own.tiers.set(line.tier ?? "", (own.tiers.get(line.tier ?? "") ?? 0) + line.units);
    }
    if (line.costNanoUsd !== null) own.nanoUsd = (own.nanoUsd ?? 0) + line.costNanoUsd;
  }
  return models;
}

function modelLines(
  name: string,
  ours: OurModel | undefined,
  theirs: TheirModel | undefined,
  tolerance: number,
): readonly ComparedLine[] {
  const whole = theirs?.classes.get("all");
  const used = billClasses.filter(
    (usageClass) => ours?.classes.has(usageClass) === true || theirs?.classes.has(usageClass) === true,
  );
  const lineOf = (usageClass: BillClass) => {
    const context = { name, usageClass, ours, theirs, tolerance };
    return comparedLine(context, ours?.classes.get(usageClass) ?? null, theirs?.classes.get(usageClass) ?? null);
  };
  if (whole === undefined) return used.map(lineOf);
  return [wholeLine({ name, usageClass: "all", ours, theirs, tolerance }, whole)];
}

interface LineContext {
  readonly name: string;
  readonly usageClass: BillClass;
  readonly ours: OurModel | undefined;
  readonly theirs: TheirModel | undefined;
  readonly tolerance: number;
}

function comparedLine(context: LineContext, own: OurClass | null, their: TheirClass | null): ComparedLine {
  const ourUnits = own?.units ?? 0;
  const ourNanoUsd = own?.costNanoUsd ?? 0;
  // The bill does not mention it.
  const theirUnits = their === null ? 0 : their.units;
  // A bill without any amount for the model is only about units.
  const isFree =
    their !== null && [...(context.theirs?.classes.values() ?? [])].every(({ nanoUsd }) => nanoUsd === null);
  const theirNanoUsd = isFree ? worthOf(theirUnits ?? ourUnits, own) : (their?.nanoUsd ?? 0);
  const adjustedNanoUsd = own?.adjustedNanoUsd ?? 0;
  const differenceNanoUsd = theirNanoUsd - ourNanoUsd - adjustedNanoUsd;
  const isMatched = isWithin(differenceNanoUsd, theirNanoUsd, ourNanoUsd + adjustedNanoUsd, context.tolerance);
  const unitCauses = theirUnits === null ? [] : unitDifferences(context, own, theirUnits, theirNanoUsd);
  const priceNanoUsd = theirNanoUsd - ourNanoUsd - unitCauses.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0);
  const priceCauses = priceDifference(context, { own, their, priceNanoUsd, theirNanoUsd, unitCauses });
  const isWrongPrice = priceCauses.some(({ cause }) => cause === "wrong_price");
  return {
    ...place(context),
    ...{ ourUnits, ourNanoUsd, adjustedNanoUsd, theirUnits, theirNanoUsd, differenceNanoUsd, isMatched },
    causes: [...unitCauses, ...priceCauses],
    vendorPicoUsd:
      isWrongPrice && !isMatched && !hasTiers(own, their) ? picoPerUnit(theirNanoUsd, theirUnits ?? ourUnits) : null,
  };
}

/** A bill with one amount for a whole model. Its units, if any, explain the difference. */
function wholeLine(context: LineContext, whole: TheirClass): ComparedLine {
  const own = [...(context.ours?.classes ?? [])];
  const sum = (amountOf: (own: OurClass) => number) => own.reduce((all, [, each]) => all + amountOf(each), 0);
  const ourNanoUsd = sum(({ costNanoUsd }) => costNanoUsd);
  const adjustedNanoUsd = sum((each) => each.adjustedNanoUsd);
  // A bill may have amounts of some classes too.
  const theirNanoUsd = [...(context.theirs?.classes.values() ?? [])].reduce(
    (all, each) => all + (each.nanoUsd ?? 0),
    0,
  );
  const differenceNanoUsd = theirNanoUsd - ourNanoUsd - adjustedNanoUsd;
  const unitCauses = [...(context.theirs?.classes ?? [])].flatMap(([usageClass, { units }]) => {
    const ourClass = context.ours?.classes.get(usageClass) ?? null;
    if (units === null || usageClass === "all") return [];
    const unpriced = ourClass === null ? 0 : worthOf(units, ourClass);
    return unitDifferences({ ...context, usageClass }, ourClass, units, unpriced);
  });
  const priceNanoUsd = theirNanoUsd - ourNanoUsd - unitCauses.reduce((all, { nanoUsd }) => all + nanoUsd, 0);
  const priced = { own: null, their: whole, priceNanoUsd, theirNanoUsd, unitCauses };
  return {
    ...place(context),
    ...{ ourUnits: sum(({ units }) => units), ourNanoUsd, adjustedNanoUsd, theirUnits: whole.units, theirNanoUsd },
    differenceNanoUsd,
    isMatched: isWithin(differenceNanoUsd, theirNanoUsd, ourNanoUsd + adjustedNanoUsd, context.tolerance),
    causes: [...unitCauses, ...priceDifference(context, priced)],
    vendorPicoUsd: null,
  };
}

function place({ name, usageClass, ours }: LineContext) {
  return { model: name, usageClass, ourModels: [...(ours?.models ?? [])].toSorted() };
}

function isWithin(difference: NanoUsd, theirs: NanoUsd, ours: NanoUsd, tolerance: number): boolean {
  return Math.abs(difference) <= Math.max(Math.abs(theirs), Math.abs(ours)) * tolerance;
}

/** The units at the price that we charged for them. */
function worthOf(units: number, own: OurClass | null): NanoUsd {
  if (own === null || own.units === 0) return 0;
  return Math.round((own.costNanoUsd / own.units) * units);
}

/** The price with the fewest digits that gives this amount, because vendors round amounts and not prices. */
function picoPerUnit(nanoUsd: NanoUsd, units: number): number | null {
  if (units <= 0 || nanoUsd < 0) return null;
  const exact = (nanoUsd * 1_000) / units;
  for (let digits = 1; digits < 12; digits++) {
    const rounded = Math.round(Number(exact.toPrecision(digits)));
    if (Math.abs(rounded * units - nanoUsd * 1_000) <= 1_000) return rounded;
  }
  return Math.round(exact);
}

/** Divides a difference in units between its causes. The parts add up. */
function unitDifferences(
  context: LineContext,
  own: OurClass | null,
  theirUnits: number,
  theirNanoUsd: NanoUsd,
): readonly Cause[] {
  const causes: Cause[] = [];
  let rest = theirUnits - (own?.units ?? 0);
  // A model that we never called has the vendor's price.
  const perUnit =
    own !== null && own.units > 0 ? own.costNanoUsd / own.units : theirUnits === 0 ? 0 : theirNanoUsd / theirUnits;
  const take = (cause: BillCause, units: number) => {
    if (units === 0) return;
    causes.push({ cause, units, nanoUsd: Math.round(units * perUnit) });
    rest -= units;
  };
  take("day_edge", sameSideOf(rest, (own?.arrivingUnits ?? 0) - (own?.leavingUnits ?? 0)));
  const past = pastGateway(context.ours, context.theirs, rest, theirUnits);
  take("past_gateway", past);
  const [estimated, broken] = [context.ours?.estimatedCalls ?? 0, context.ours?.brokenCalls ?? 0];
  if (estimated + broken > 0) {
    take("broken_streams", Math.round((rest * broken) / (estimated + broken)));
    take("estimated", rest);
  } else take("not_billed", rest);
  return causes;
}

/** The part of `possible` that has the sign of `rest` and is not larger. */
function sameSideOf(rest: number, possible: number): number {
  if (Math.sign(rest) !== Math.sign(possible)) return 0;
  return Math.sign(rest) * Math.min(Math.abs(rest), Math.abs(possible));
}

/**
 * More units than we counted are calls past the gateway, unless entries were estimated: then only as many as the vendor counted more
 * requests than we did, with the mean usage of a request.
 */
function pastGateway(
  ours: OurModel | undefined,
  theirs: TheirModel | undefined,
  rest: number,
  theirUnits: number,
): number {
  if (rest <= 0) return 0;
  const isCertain = ours === undefined || ours.estimatedCalls + ours.brokenCalls === 0;
  if (isCertain) return rest;
  const requests = theirs?.requests ?? null;
  if (requests === null || requests === 0) return 0;
  const more = requests - ours.calls - ours.arrivingCalls + ours.leavingCalls;
  return more <= 0 ? 0 : Math.min(rest, Math.round((theirUnits / requests) * more));
}

interface PricedDifference {
  readonly own: OurClass | null;
  readonly their: TheirClass | null;
  /** The part of the difference that units do not explain. */
  readonly priceNanoUsd: NanoUsd;
  readonly theirNanoUsd: NanoUsd;
  readonly unitCauses: readonly Cause[];
}

function priceDifference(
  { usageClass, tolerance, ours }: LineContext,
  { own, their, priceNanoUsd, theirNanoUsd, unitCauses }: PricedDifference,
): readonly Cause[] {
  if (priceNanoUsd === 0) return [];
  const because = (cause: BillCause): readonly Cause[] => [{ cause, units: null, nanoUsd: priceNanoUsd }];
  if (usageClass === "credit") return because("credit");
  if (isWithin(priceNanoUsd, theirNanoUsd, theirNanoUsd, Math.min(tolerance, roundingMax))) return because("rounding");
  // Without units, an amount for a model that we never called cannot be ours.
  if (ours === undefined || ours.calls === 0) return because("past_gateway");
  if (their === null) return because(unitCauses.length > 0 ? "rounding" : "not_billed");
  if (own !== null && hasOtherTiers(own, their)) return because("tier");
  return because("wrong_price");
}

/** Larger differences of a price are not due to rounding. */
const roundingMax = 0.001;

/** Some units have the price of another tier than the standard one, so the mean is not the standard price. */
function hasTiers(own: OurClass | null, their: TheirClass | null): boolean {
  return [...(own?.tiers.keys() ?? []), ...(their?.tiers.keys() ?? [])].some((tier) => tier !== "");
}

/** The vendor served units at another tier than the ledger has. */
function hasOtherTiers(own: OurClass, their: TheirClass): boolean {
  const tiers = new Set([...own.tiers.keys(), ...their.tiers.keys()]);
  tiers.delete("");
  return [...tiers].some((tier) => (own.tiers.get(tier) ?? 0) !== (their.tiers.get(tier) ?? 0));
}
