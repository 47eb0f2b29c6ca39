import type { AnswerOf } from "@sluice/contract";
import { csvText } from "../../client/csv.ts";

export type CostLine = AnswerOf<"usage.costs">["data"][number];

/** Vendor cost minus cost by your prices, in USD. null: the vendor reports none. */
export function differenceOf({ vendor_cost_usd: vendor, own_cost_usd: own }: CostLine): number | null {
  // Both are whole nano-USD; their difference is too.
  return vendor === null || own === null ? null : Math.round((vendor - own) * 1e9) / 1e9;
}

export function costsCsv(lines: readonly CostLine[]): string {
  return csvText(
    ["provider", "model", "attempts", "cost_usd", "own_cost_usd", "vendor_cost_usd", "difference_usd"],
    lines.map((line) => ({ ...line, difference_usd: differenceOf(line) })),
  );
}
