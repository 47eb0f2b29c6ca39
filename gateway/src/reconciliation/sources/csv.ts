import { type BillLine, type BillRows, classNamed, countOf, dayOf, decimalToNano } from "../bill.ts";
import { tierOf } from "./openai.ts";
import { badFile, columnIn, csvRows, fieldIn, type TableRow } from "./tables.ts";

/**
 * A table with a header: `day`, `model`, `class`, `units`, `cost` (USD), and optionally `requests` and `tier`. Other common names of these
 * columns are accepted. Without `class`, the cost is one of the whole model.
 */
export function csvBill(text: string): BillRows {
  return tableBill(text, [columns.day, columns.cost], (row) => {
    refuseCurrency(fieldIn(row, columns.currency));
    const usageClass = fieldIn(row, columns.class);
    return {
      day: dayIn(row, columns.day),
      model: fieldIn(row, columns.model) ?? "",
      usageClass: usageClass === null ? "all" : classNamed(usageClass),
      units: countOf(fieldIn(row, columns.units)),
      costNanoUsd: amountIn(row, columns.cost),
      requests: countOf(fieldIn(row, columns.requests)),
      tier: tierOf(fieldIn(row, columns.tier)),
    };
  });
}

/** The lines of a table. null: a row that is not part of the bill. `needed`: columns, by their possible names. */
export function* tableBill(
  text: string,
  needed: readonly (readonly string[])[],
  lineOf: (row: TableRow) => BillLine | null,
): BillRows {
  let isFirst = true;
  for (const row of csvRows(text)) {
    if (isFirst && row !== null) for (const names of needed) columnIn(row, names);
    isFirst &&= row === null;
    yield row === null ? null : lineOf(row);
  }
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
 * SKU or the description names. Taxes are left out, because the ledger has none. In a table of Azure, meters name model and class, and
 * rows of other services are left out.
 */
export function focusBill(text: string): BillRows {
  return tableBill(text, [focus.day, focus.cost], (row) => {
    const category = (fieldIn(row, ["chargecategory"]) ?? "usage").toLowerCase();
    const isAzure = /microsoft/i.test(fieldIn(row, ["providername", "serviceprovidername"]) ?? "");
    const service = fieldIn(row, ["x_skumetercategory", "servicename"]) ?? "";
    if (category === "tax" || (isAzure && !/openai|foundry|cognitive|ai services/i.test(service))) return null;
    if (fieldIn(row, ["x_billedcostinusd"]) === null) refuseCurrency(fieldIn(row, ["billingcurrency"]));
    const meter = isAzure ? fieldIn(row, ["x_skumetername", "skumeter"]) : null;
    const named = meter ?? fieldIn(row, focus.class) ?? "";
    return {
      day: dayIn(row, focus.day),
      model: meter === null ? (fieldIn(row, focus.model) ?? "") : azureModel(meter),
      usageClass: category === "credit" ? "credit" : classNamed(named),
      units: category === "usage" ? scaledUnits(fieldIn(row, focus.units), fieldIn(row, focus.unit)) : null,
      costNanoUsd: amountIn(row, focus.cost),
      requests: null,
      tier: tierOf(fieldIn(row, ["x_servicetier"]) ?? /\b(?:batch|flex|priority)\b/i.exec(meter ?? "")?.[0] ?? null),
    };
  });
}

const focus = {
  day: ["chargeperiodstart"],
  model: ["x_model", "resourcename", "skumeter", "skuid", "resourceid"],
  class: ["x_usageclass", "skumeter", "chargedescription", "skuid"],
  units: ["consumedquantity", "pricingquantity"],
  unit: ["consumedunit", "pricingunit"],
  cost: ["x_billedcostinusd", "billedcost", "effectivecost"],
} as const;

/** `gpt 4.1 mini cached Inp glbl Tokens` is `gpt-4.1-mini`, and `5.4 inp Gl 1M Tokens` is `gpt-5.4`. */
function azureModel(meter: string): string {
  const words = meter.toLowerCase().split(/[\s-]+/);
  const end = words.findIndex((word) => azureWords.has(word));
  const name = words.slice(0, end === -1 ? words.length : end).join("-");
  return /^\d/.test(name) ? `gpt-${name}` : name;
}

/** The first of these ends the model's name in a meter. */
const azureWords: ReadonlySet<string> = new Set([
  ...["inp", "input", "outp", "output", "opt", "cd", "cached", "batch", "flex", "priority", "tokens"],
  ...["gl", "glbl", "global", "regnl", "regional", "dz", "dzone", "data"],
]);

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
