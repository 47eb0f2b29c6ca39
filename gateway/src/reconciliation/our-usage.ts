import type { BillClass, UsageClassName } from "@sluice/contract/words";
import { costOf, type NanoUsd, noUsage, type PriceTable, usageClasses } from "#core/index.ts";
import { splitByWeight } from "#ledger/index.ts";
import type { BilledUsage } from "#ports/index.ts";
import { billClassOf } from "./bill.ts";

/** Usage of one model and class of a bill, by the ledger. */
export interface OurClass {
  units: number;
  costNanoUsd: NanoUsd;
  /** Units of calls that ran over midnight, which a vendor may count on the day of their end: out of this day, and into it. */
  leavingUnits: number;
  arrivingUnits: number;
  /** Adjustments that were booked. */
  adjustedNanoUsd: NanoUsd;
  /** Units by tier; "" is the standard tier. */
  readonly tiers: Map<string, number>;
}

/** A model of a bill, by the vendor's name. */
export interface OurModel {
  /** The gateway's models that it served. */
  readonly models: Set<string>;
  readonly classes: Map<BillClass, OurClass>;
  calls: number;
  /** Calls with estimated usage, because the vendor reported none: with whole answers, and with answers that broke off. */
  estimatedCalls: number;
  brokenCalls: number;
  leavingCalls: number;
  arrivingCalls: number;
}

/** Entries of a day by the vendor's model names. `before`: entries of the previous day, of which only calls over midnight count. */
export function ourUsage(
  entries: readonly BilledUsage[],
  before: readonly BilledUsage[],
): ReadonlyMap<string, OurModel> {
  const models = new Map<string, OurModel>();
  for (const entry of entries) addEntry(modelIn(models, entry), entry);
  for (const entry of before) {
    if (!entry.runsOver) continue;
    const model = modelIn(models, entry);
    model.arrivingCalls += entry.calls;
    for (const { usageClass, units } of classesOf(entry)) classIn(model, usageClass).arrivingUnits += units;
  }
  return models;
}

function addEntry(model: OurModel, entry: BilledUsage): void {
  const { adjustment, isEstimated, isBroken, runsOver, calls } = entry;
  // A vendor's charge for stored data is a cost of the day, although it has no call. It corrects nothing.
  if (adjustment === "storage") {
    classIn(model, "other").costNanoUsd += entry.costNanoUsd;
    return;
  }
  if (adjustment !== null) {
    classIn(model, (entry.adjusts ?? "other") as BillClass).adjustedNanoUsd += entry.costNanoUsd;
    return;
  }
  model.calls += calls;
  if (isEstimated) model[isBroken ? "brokenCalls" : "estimatedCalls"] += calls;
  if (runsOver) model.leavingCalls += calls;
  for (const { usageClass, units, costNanoUsd } of classesOf(entry)) {
    const own = classIn(model, usageClass);
    own.units += units;
    own.costNanoUsd += costNanoUsd;
    if (runsOver) own.leavingUnits += units;
    const tier = entry.served?.split(" ")[0] ?? "";
    own.tiers.set(tier, (own.tiers.get(tier) ?? 0) + units);
  }
}

/** The usage of an entry by class. The costs add up to the entry's cost. */
function classesOf({ usage, prices, costNanoUsd }: BilledUsage) {
  const sums = new Map<BillClass, { units: number; weight: number }>();
  for (const name of usageClasses) {
    const usageClass = billClassOf[name];
    if (usageClass === null || usage[name] === 0) continue;
    const sum = sums.get(usageClass) ?? { units: 0, weight: 0 };
    sums.set(usageClass, sum);
    sum.units += usage[name];
    sum.weight += costOfClass(prices, name, usage[name]);
  }
  const classes = [...sums];
  const costs = splitByWeight(
    costNanoUsd,
    classes.map(([, { weight }]) => weight),
  );
  return classes.map(([usageClass, { units }], index) => ({ usageClass, units, costNanoUsd: costs[index] ?? 0 }));
}

function costOfClass(prices: PriceTable | null, name: UsageClassName, units: number): NanoUsd {
  if (prices === null) return 0;
  const { longContext: _, ...plain } = prices;
  return costOf(plain, { ...noUsage, [name]: units });
}

function modelIn(models: Map<string, OurModel>, { upstreamModel, model: name, adjustment }: BilledUsage): OurModel {
  let model = models.get(upstreamModel);
  if (model === undefined) {
    model = { models: new Set(), classes: new Map(), calls: 0, ...noCalls };
    models.set(upstreamModel, model);
  }
  if (adjustment === null) model.models.add(name);
  return model;
}

const noCalls = { estimatedCalls: 0, brokenCalls: 0, leavingCalls: 0, arrivingCalls: 0 };

function classIn(model: OurModel, usageClass: BillClass): OurClass {
  let own = model.classes.get(usageClass);
  if (own === undefined) {
    own = { ...noUnits, tiers: new Map() };
    model.classes.set(usageClass, own);
  }
  return own;
}

const noUnits = { units: 0, costNanoUsd: 0, leavingUnits: 0, arrivingUnits: 0, adjustedNanoUsd: 0 };
