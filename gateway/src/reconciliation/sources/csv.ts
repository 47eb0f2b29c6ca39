import { type BillLine, classNamed, countOf, dayOf, decimalToNano } from "../bill.ts";
import { tierOf } from "./openai.ts";
import { badFile, columnIn, csvRows, fieldIn, type TableRow } from "./tables.ts";

/**
 * A table with a header: `day`, `model`, `class`, `units`, `cost` (USD), and optionally `requests` and `tier`. Other common names of these
 * columns are accepted. Without `class`, the cost is one of the whole model.
 */
export function csvBill(text: string): readonly BillLine[] {
  const lines: BillLine[] = [];
  for (const row of csvRows(text)) {
    if (lines.length === 0) for (const names of [columns.day, columns.cost]) columnIn(row, names);
    refuseCurrency(fieldIn(row, columns.currency));
    const usageClass = fieldIn(row, columns.class);
    lines.push({
      day: dayIn(row, columns.day),
      model: fieldIn(row, columns.model) ?? "",
      usageClass: usageClass === null ? "all" : classNamed(usageClass),
      units: countOf(fieldIn(row, columns.units)),
      costNanoUsd: amountIn(row, columns.cost),
      requests: countOf(fieldIn(row, columns.requests)),
      tier: tierOf(fieldIn(row, columns.tier)),
    });
  }
  return lines;
}

const columns = {
  day: ["day", "date", "usage_date", "start_time"],
  model: ["model", "model_name"],
  class: ["class", "usage_class", "token_type", "type", "line_item"],
  units: ["units", "quantity", "tokens", "usage"],
  cost: ["cost", "cost_usd", "amount", "amount_usd"],
  requests: ["requests", "calls", "num_requests"],
  tier: ["tier", "service_tier"],
  currency: ["currency", "billing_currency"],
} as const;

export function dayIn(row: TableRow, names: readonly string[]): string {
  const text = fieldIn(row, names) ?? "";
  const day = dayOf(text);
  if (day === null) throw badFile(`${JSON.stringify(text)} is not a date`);
  return day;
}

/** null: the field is empty. */
export function amountIn(row: TableRow, names: readonly string[]): number | null {
  const text = fieldIn(row, names);
  if (text === null) return null;
  const nano = decimalToNano(text.replace(/^\$/, ""));
  if (nano === null) throw badFile(`${JSON.stringify(text)} is not an amount in USD`);
  return nano;
}

export function refuseCurrency(currency: string | null): void {
  if (currency === null || currency.toUpperCase() === "USD") return;
  throw badFile(`its currency is ${currency}; only USD can be compared with the ledger`);
}

/**
 * A FOCUS cost and usage table (1.0 to 1.4). The model is `x_Model`, else the resource or SKU; the class is `x_UsageClass`, else what the
 * SKU or the description names. Taxes are left out, because the ledger has none.
 */
export function focusBill(text: string): readonly BillLine[] {
  const lines: BillLine[] = [];
  for (const row of csvRows(text)) {
    if (lines.length === 0) for (const names of [focus.day, focus.cost]) columnIn(row, names);
    const category = (fieldIn(row, ["chargecategory"]) ?? "usage").toLowerCase();
    if (category === "tax") continue;
    refuseCurrency(fieldIn(row, ["billingcurrency"]));
    const named = fieldIn(row, focus.class) ?? "";
    lines.push({
      day: dayIn(row, focus.day),
      model: fieldIn(row, focus.model) ?? "",
      usageClass: category === "credit" ? "credit" : classNamed(named),
      units: category === "usage" ? scaledUnits(fieldIn(row, focus.units), fieldIn(row, focus.unit)) : null,
      costNanoUsd: amountIn(row, focus.cost),
      requests: null,
      tier: tierOf(fieldIn(row, ["x_servicetier"])),
    });
  }
  return lines;
}

const focus = {
  day: ["chargeperiodstart"],
  model: ["x_model", "resourcename", "skumeter", "skuid", "resourceid"],
  class: ["x_usageclass", "skumeter", "chargedescription", "skuid"],
  units: ["consumedquantity", "pricingquantity"],
  unit: ["consumedunit", "pricingunit"],
  cost: ["billedcost", "effectivecost"],
} as const;

/** Vendors count tokens by the thousand (`1K tokens`) or million (`1M Tokens`). */
export function scaledUnits(text: string | null, unit: string | null): number | null {
  const count = countOf(text);
  if (count === null) return null;
  // Millions first, because "1,000,000" begins like "1,000".
  const size = /^\s*1?\s*m\b|million|1[,_]?000[,_]?000\b/i.test(unit ?? "")
    ? 1_000_000
    : /^\s*1?\s*(?:k\b|000)|thousand|1[,_]?000\b/i.test(unit ?? "")
      ? 1_000
      : 1;
  return Math.round(count * size);
}
