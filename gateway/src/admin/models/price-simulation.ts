import type { AnswerOf, PriceConfig, PriceMember, Remark } from "@sluice/contract";
import { usageTable } from "@sluice/contract/words";
import { type PricedClass, type PriceTable, pricedClasses, pricesOf } from "#core/index.ts";
import type { ModelUsage } from "#ports/index.ts";

type Simulation = Omit<AnswerOf<"models.simulate">, "from" | "to">;
/** The classes of usage in the words of a price. */
const priceWords = Object.fromEntries(
  usageTable.flatMap(({ name, price }) => (price === null ? [] : [[name, price]])),
) as Readonly<Record<PricedClass, PriceMember>>;

/** What a sum of usage would have cost at a price. Exact in pico-USD until it is shown. */
export function simulatePrice(price: PriceConfig, used: readonly ModelUsage[]): Simulation {
  const { table, variants } = pricesOf(price);
  const units = new Map(pricedClasses.map((name) => [name, unitsOf(name, used)]));
  const lines = pricedClasses.flatMap((name) => lineOf(name, units.get(name) ?? 0, table));
  const picoUsd = lines.reduce((sum, line) => sum + line.pico, 0n);
  const requests = used.reduce((sum, each) => sum + each.requests, 0);
  const remarks = remarksOn(units, table, {
    requests,
    variants: (variants ?? []).length > 0,
    longContext: table.longContext !== undefined,
  });
  return {
    requests,
    usage: Object.fromEntries(
      pricedClasses.flatMap((name) => {
        const count = units.get(name) ?? 0;
        return count === 0 ? [] : [[priceWords[name], count]];
      }),
    ),
    cost_usd: used.reduce((sum, each) => sum + each.costUsd, 0),
    simulated_usd: usdOf(picoUsd),
    lines: lines.map(({ pico, ...line }) => ({ ...line, usd: usdOf(pico) })),
    notes: remarks.map(sentenceOf),
    remarks,
  };
}

function unitsOf(name: PricedClass, used: readonly ModelUsage[]): number {
  return used.reduce((sum, each) => sum + (each.usage[name] ?? 0), 0);
}

function lineOf(name: PricedClass, units: number, table: PriceTable) {
  const pico = table[name];
  if (units === 0 || pico === undefined) return [];
  // Counts are whole; what a sum may have lost beyond 2^53 is far below what is shown.
  return [
    { class: priceWords[name], units, unit_usd: pico / picoPerUsd, pico: BigInt(Math.round(units)) * BigInt(pico) },
  ];
}

type SimulationRemark = Remark<"simulation">;

function remarksOn(
  units: ReadonlyMap<PricedClass, number>,
  table: PriceTable,
  {
    requests,
    variants,
    longContext,
  }: { readonly requests: number; readonly variants: boolean; readonly longContext: boolean },
): SimulationRemark[] {
  if (requests === 0 && [...units.values()].every((count) => count === 0))
    return [{ code: "nothing_used", params: {} }];
  const remarks: SimulationRemark[] = [];
  for (const [name, count] of units) {
    if (count > 0 && table[name] === undefined) {
      remarks.push({ code: "class_without_price", params: { class: priceWords[name], count } });
    }
  }
  const videos = (units.get("videoSeconds") ?? 0) > 0 || (units.get("output") ?? 0) > 0;
  if (variants && videos) remarks.push({ code: "variants_not_told_apart", params: {} });
  if (longContext) remarks.push({ code: "long_context_not_told_apart", params: {} });
  remarks.push({ code: "rounded_at_once", params: {} });
  return remarks;
}

function sentenceOf(remark: SimulationRemark): string {
  if (remark.code === "class_without_price") {
    const { class: name, count } = remark.params;
    return `\`${name}\` has no price, so ${count} units of it count nothing.`;
  }
  return sentences[remark.code];
}

const sentences: Readonly<Record<Exclude<SimulationRemark["code"], "class_without_price">, string>> = {
  nothing_used: "Nothing was used in this time.",
  variants_not_told_apart:
    "Sums do not tell videos of one resolution or with sound apart: all count at the plain price.",
  long_context_not_told_apart: "Sums do not tell long requests apart: all count at the price of a shorter context.",
  rounded_at_once: "Each request is charged in whole billionths of a dollar; here the sum is worked out at once.",
};

const picoPerUsd = 1_000_000_000_000;

function usdOf(pico: bigint): number {
  return Number(pico) / picoPerUsd;
}
