import { focusColumns } from "@sluice/contract/words";

/**
 * Rules of FOCUS 1.2 that hold for every row, written from the specification (https://focus.finops.org/focus-specification/v1-2/), and of
 * our own: exact decimals with a decimal point.
 */

export type FocusRow = Readonly<Record<(typeof focusColumns)[number], string | null>>;

/** Reads CSV (RFC 4180). Throws if it is malformed or has other columns. */
export function readFocus(csv: string): readonly FocusRow[] {
  const [header = [], ...records] = readCsv(csv);
  if (header.join() !== focusColumns.join()) throw new Error(`columns: ${header.join()}`);
  return records.map((fields) => {
    if (fields.length !== focusColumns.length) throw new Error(`${fields.length} fields`);
    return Object.fromEntries(
      focusColumns.map((column, n) => [column, fields[n] === "" ? null : fields[n]]),
    ) as FocusRow;
  });
}

function readCsv(text: string): readonly (readonly string[])[] {
  const records: string[][] = [];
  let fields: string[] = [];
  const field = /"((?:[^"]|"")*)"(,|\r\n)|([^",\r\n]*)(,|\r\n)/y;
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const found = field.exec(text);
    if (found === null) throw new Error(`not CSV: ${text.slice(at, at + 50)}`);
    const [, quoted, quotedEnd, plain = "", plainEnd] = found;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if ((quotedEnd ?? plainEnd) === ",") continue;
    records.push(fields);
    fields = [];
  }
  return records;
}

const mandatory = [
  "BilledCost",
  "BillingAccountId",
  "BillingAccountName",
  "BillingCurrency",
  "BillingPeriodEnd",
  "BillingPeriodStart",
  "ChargeCategory",
  "ChargeDescription",
  "ChargePeriodEnd",
  "ChargePeriodStart",
  "ContractedCost",
  "EffectiveCost",
  "InvoiceIssuerName",
  "ListCost",
  "ProviderName",
  "PublisherName",
  "ServiceCategory",
  "ServiceName",
  "ServiceSubcategory",
  "SubAccountId",
  "SubAccountName",
  "SubAccountType",
] as const;

const usageOnly = [
  "ConsumedQuantity",
  "ConsumedUnit",
  "ContractedUnitPrice",
  "ListUnitPrice",
  "PricingCategory",
  "PricingQuantity",
  "PricingUnit",
  "SkuId",
  "SkuMeter",
  "SkuPriceDetails",
  "SkuPriceId",
] as const;

const allowed: { readonly [Column in keyof FocusRow]?: readonly (string | null)[] } = {
  BillingCurrency: ["USD"],
  PricingCurrency: ["USD"],
  ChargeCategory: ["Usage", "Adjustment"],
  ChargeClass: [null, "Correction"],
  ChargeFrequency: ["Usage-Based", "One-Time"],
  PricingCategory: [null, "Standard", "Other"],
  ServiceCategory: ["AI and Machine Learning"],
  ServiceSubcategory: ["Generative AI"],
  CommitmentDiscountId: [null],
  CommitmentDiscountStatus: [null],
  InvoiceId: [null],
};

/** Problems of these rows; empty: they follow every rule. */
export function focusProblems(rows: readonly FocusRow[]): readonly string[] {
  const problems = rows.flatMap((row, n) => rowProblems(row).map((problem) => `row ${n}: ${problem}`));
  return [...problems, ...skuProblems(rows)];
}

function rowProblems(row: FocusRow): readonly string[] {
  const problems: string[] = [];
  const check = (holds: boolean, rule: string) => void (holds || problems.push(rule));
  for (const column of mandatory) check(row[column] !== null, `${column} is null`);
  for (const [column, values] of Object.entries(allowed)) {
    const value = row[column as keyof FocusRow];
    check(values.includes(value), `${column} is ${value}`);
  }
  const isUsage = row.ChargeCategory === "Usage";
  for (const column of usageOnly) check((row[column] !== null) === isUsage, `${column} of ${row.ChargeCategory}`);
  for (const column of focusColumns) {
    const value = row[column];
    if (value === null || column.startsWith("x_")) continue;
    if (/(?:Cost|Quantity|UnitPrice)$/.test(column)) check(/^-?\d+\.\d+$/.test(value), `${column} is ${value}`);
    if (/UnitPrice$/.test(column)) check(!value.startsWith("-"), `${column} is negative`);
    if (/Period(?:Start|End)$/.test(column)) check(/^\d{4}-\d\d-\d\dT00:00:00Z$/.test(value), `${column} is ${value}`);
  }
  const [from, to] = [Date.parse(row.ChargePeriodStart ?? ""), Date.parse(row.ChargePeriodEnd ?? "")];
  check(to - from === 86_400_000, "the charge period is not a day");
  const month = Date.parse(row.BillingPeriodStart ?? "");
  check(new Date(month).getUTCDate() === 1, "the billing period does not begin a month");
  const next = Date.UTC(new Date(month).getUTCFullYear(), new Date(month).getUTCMonth() + 1);
  check(Date.parse(row.BillingPeriodEnd ?? "") === next, "the billing period is not a month");
  check((row.ChargeClass === "Correction") === from < month, "a correction is of an earlier billing period");
  check(row.BilledCost === row.EffectiveCost, "nothing is prepaid, so the effective cost is the billed one");
  if (isUsage) problems.push(...productProblems(row));
  else for (const column of ["ListCost", "ContractedCost"] as const) check(row[column] === row.BilledCost, column);
  for (const column of ["Tags", "SkuPriceDetails"] as const) {
    const pairs: Readonly<Record<string, unknown>> = JSON.parse(row[column] ?? "{}");
    check(
      !Array.isArray(pairs) && Object.values(pairs).every((value) => typeof value !== "object"),
      `${column} is nested`,
    );
    if (column === "SkuPriceDetails")
      check(
        Object.keys(pairs).every((key) => key.startsWith("x_")),
        `names of ${column}`,
      );
  }
  return problems;
}

/** A unit price times the quantity is the cost, exactly. */
function productProblems(row: FocusRow): readonly string[] {
  return (["List", "Contracted"] as const).flatMap((kind) => {
    const [price, quantity] = [read(row[`${kind}UnitPrice`]), read(row.PricingQuantity)];
    const cost = read(row[`${kind}Cost`]);
    const holds =
      price.units * quantity.units * 10n ** BigInt(cost.scale) ===
      cost.units * 10n ** BigInt(price.scale + quantity.scale);
    return holds ? [] : [`${kind}Cost is not its unit price times the quantity`];
  });
}

function read(value: string | null) {
  const [whole = "0", fraction = ""] = (value ?? "0.0").split(".");
  return { units: BigInt(whole + fraction), scale: fraction.length };
}

/** A SKU price belongs to one SKU and has one meter, unit and price. */
function skuProblems(rows: readonly FocusRow[]): readonly string[] {
  const prices = new Map<string, string>();
  return rows.flatMap((row) => {
    if (row.SkuPriceId === null) return [];
    const facts = [
      row.SkuId,
      row.SkuMeter,
      row.PricingUnit,
      row.ContractedUnitPrice,
      row.SkuPriceDetails,
      row.PricingCategory,
    ].join(" | ");
    const before = prices.get(row.SkuPriceId) ?? facts;
    prices.set(row.SkuPriceId, before);
    return before === facts ? [] : [`${row.SkuPriceId}: ${before}, and ${facts}`];
  });
}

/** Nano-USD. */
export function billedNano(rows: readonly FocusRow[]): bigint {
  return rows.reduce((sum, { BilledCost }) => {
    const { units, scale } = read(BilledCost);
    return sum + units * 10n ** BigInt(9 - scale);
  }, 0n);
}
