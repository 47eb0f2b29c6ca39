import type { BillClass } from "@sluice/contract/words";
import {
  type BillLine,
  classNamed,
  countIn,
  dayOf,
  decimalToNano,
  type ExactObject,
  nextPageOf,
  objectOf,
  objectsOf,
  type ReportPage,
  requireUsd,
  textIn,
} from "../bill.ts";

// https://platform.openai.com/docs/api-reference/usage

/** Its rows are buckets: a day with the results of the day. */
export function openaiPage(answer: unknown): ReportPage {
  const page = objectOf(answer);
  return { rows: objectsOf(page["data"]), next: nextPageOf(page) };
}

/** Rows of `/costs`, grouped by line item: `{amount: {value, currency}, line_item: "gpt-6-astra, input_tokens", quantity}`. */
export function openaiCosts(buckets: readonly ExactObject[]): readonly BillLine[] {
  return rowsOf(buckets).flatMap(([day, row]) => {
    const amount = objectOf(row["amount"]);
    const costNanoUsd = decimalToNano(textIn(amount, "value") ?? "");
    requireUsd(textIn(amount, "currency"));
    if (costNanoUsd === null) return [];
    const item = textIn(row, "line_item") ?? "";
    const comma = item.lastIndexOf(",");
    if (comma < 0 && storageItem.test(item)) {
      return [{ day, model: "", usageClass: "other", units: null, costNanoUsd, requests: null, tier: null }];
    }
    const isCredit = costNanoUsd < 0 || (comma < 0 && classNamed(item) === "credit");
    const model = isCredit ? "" : comma < 0 ? item : item.slice(0, comma).trim();
    const usageClass = isCredit ? "credit" : classNamed(comma < 0 ? item : item.slice(comma + 1));
    return [{ day, model, usageClass, units: quantityOf(row), costNanoUsd, requests: null, tier: null }];
  });
}

/** Storage of vector stores, which the bill calls `assistants api | file search` and counts in GiB hours. */
const storageItem = /\| file search$|\bstorage\b/i;

const unitSizes: Readonly<Record<string, number>> = {
  "1000_tokens": 1_000,
  duration_minutes: 60,
  duration_hours: 3_600,
};

function quantityOf(row: ExactObject): number | null {
  const quantity = countIn(row, "quantity");
  if (quantity === null) return null;
  return Math.round(quantity * (unitSizes[textIn(row, "quantity_unit") ?? ""] ?? 1));
}

/** Rows of `/usage/completions`, `/usage/embeddings` and similar, grouped by model (and by tier). `input_tokens` includes cached ones. */
export function openaiUsage(buckets: readonly ExactObject[]): readonly BillLine[] {
  return rowsOf(buckets).flatMap(([day, row]) => {
    const model = textIn(row, "model") ?? "";
    const count = (name: string) => countIn(row, name) ?? 0;
    const [cached, written] = [count("input_cached_tokens"), count("input_cache_write_tokens")];
    const uncached = countIn(row, "input_uncached_tokens") ?? Math.max(0, count("input_tokens") - cached - written);
    const tier = row["batch"] === true ? "batch" : tierOf(textIn(row, "service_tier"));
    return usageLines(
      { day, model, tier, requests: countIn(row, "num_model_requests") },
      { input: uncached, cache_read: cached, cache_write: written, output: count("output_tokens") },
    );
  });
}

/** One line for each class that was used. The first one has the requests. */
export function usageLines(
  place: Pick<BillLine, "day" | "model" | "tier" | "requests">,
  units: Readonly<Partial<Record<BillClass, number>>>,
): readonly BillLine[] {
  const used = Object.entries(units).filter(([usageClass, count]) => count > 0 || usageClass === "input");
  return used.map(([usageClass, count], index) => ({
    ...place,
    usageClass: usageClass as BillClass,
    units: count,
    costNanoUsd: null,
    requests: index === 0 ? place.requests : null,
  }));
}

/** null: the standard tier. */
export function tierOf(tier: string | null): string | null {
  return tier === null || /^(?:default|standard|auto|none)$/i.test(tier) ? null : tier.toLowerCase();
}

function rowsOf(buckets: readonly ExactObject[]): readonly (readonly [day: string, row: ExactObject])[] {
  return buckets.flatMap((bucket) => {
    const day = dayOf(textIn(bucket, "start_time") ?? "");
    return day === null ? [] : objectsOf(bucket["results"]).map((row) => [day, row] as const);
  });
}

/** Costs and usage as one bill: quantities of the costs are used only where the usage has none. */
export function openaiBill(costs: readonly BillLine[], usage: readonly BillLine[]): readonly BillLine[] {
  const counted = new Set(usage.map(nameOf));
  return [...usage, ...costs.map((line) => (counted.has(nameOf(line)) ? { ...line, units: null } : line))];
}

function nameOf({ day, model, usageClass }: BillLine): string {
  return `${day} ${usageClass} ${model}`;
}
