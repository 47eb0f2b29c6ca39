import { type UsageClassRow, usageTable } from "@sluice/contract/words";
import { classPrices, type PicoUsd, type PricedClass, type PriceVersion } from "#core/index.ts";
import { type FocusCatalogue, focusListKey } from "#ports/index.ts";
import { dayMs } from "../ledger/ledger-grains.ts";
import { type FocusColumn, focusLine } from "./focus-columns.ts";
import { decimal, splitByWeights } from "./focus-decimals.ts";
import type { FocusScope, FocusSum } from "./focus-sums.ts";

/** Names of the objects of a sum, as they are when the day is closed. */
export interface FocusNames {
  readonly workspace: { readonly slug: string; readonly name: string };
  readonly group: string;
  readonly key: string;
  readonly person: string;
}

export interface FocusContext {
  /** The day of the file, and the day of the entries. */
  readonly day: number;
  readonly chargeDay: number;
  readonly names: FocusNames;
  readonly catalogue: FocusCatalogue;
  /** The version of the sum; null: it has none, or it was deleted. */
  readonly price: PriceVersion | null;
}

type Values = Partial<Record<FocusColumn, string>>;

/** CSV lines: one for each usage class, or for an adjustment. Their costs add up to the sum's. */
export function focusLines(sum: FocusSum, context: FocusContext): readonly string[] {
  const common = commonValues(sum, context);
  if (sum.scope.adjustment !== "") return [focusLine({ ...common, ...adjustmentValues(sum) })];
  return classRows(sum, context).map((row) => focusLine({ ...common, ...usageValues(row, sum) }));
}

interface ClassRow {
  readonly name: string;
  readonly count: number;
  /** Exponent of 10 for the size of a pricing unit: 6 for a price per million. */
  readonly scale: number;
  readonly unit: string;
  /** Pico-USD per unit: of the price version, and of the price list. */
  readonly price: PicoUsd;
  readonly listPrice: PicoUsd;
  readonly costNano: bigint;
}

function classRows(sum: FocusSum, context: FocusContext): readonly ClassRow[] {
  const { scope, usage, cost } = sum;
  const prices = context.price === null ? null : classPrices(context.price.table, scope.isLong);
  const list = listPricesOf(scope, context);
  const rows = usageTable.flatMap((row: UsageClassRow): Omit<ClassRow, "costNano">[] => {
    const count = usage[row.name as PricedClass] ?? 0;
    if (count === 0 || row.price === null) return [];
    const price = prices?.get(row.name as PricedClass) ?? 0;
    const listPrice = list?.get(row.name as PricedClass) ?? price;
    return [{ name: row.column, count, scale: scales[row.by], unit: unitNames[row.unit], price, listPrice }];
  });
  const weights = rows.map(({ count, price }) => BigInt(count) * BigInt(price));
  if (weights.some((weight) => weight !== 0n)) {
    const costs = splitByWeights(cost, weights);
    return rows.map((row, place) => ({ ...row, costNano: costs[place] ?? 0n }));
  }
  // Only the vendor knows what it charged for. Such a cost is one row: as many dollars at a price of one dollar.
  const free = rows.map((row) => ({ ...row, costNano: 0n }));
  if (cost === 0n) return free;
  const whole = { name: vendorCost, count: Number(cost), scale: 9, unit: "Dollars", costNano: cost };
  return [...free, { ...whole, price: picoPerNano, listPrice: picoPerNano }];
}

/** Not a usage class: the cost of calls without a price here. */
const vendorCost = "vendor_cost";
const picoPerNano = 1_000;
const scales = { one: 0, thousand: 3, million: 6 } as const;
const unitNames = {
  token: "Tokens",
  image: "Images",
  second: "Seconds",
  call: "Requests",
  unit: "Units",
  character: "Characters",
} as const;

/** The price list's prices; null: unknown, as for other tiers than the standard one. */
function listPricesOf(
  { provider, upstreamModel, served, isLong }: FocusScope,
  { catalogue, price }: FocusContext,
): ReadonlyMap<PricedClass, PicoUsd> | null {
  if (price === null || price.origin === "price_list" || served !== "") return null;
  const table = ownValue(catalogue.listPrices, focusListKey(provider, upstreamModel));
  return table === undefined ? null : classPrices(table, isLong);
}

function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function usageValues({ count, scale, unit, ...row }: ClassRow, { scope, calls }: FocusSum): Values {
  const isWhole = row.name === vendorCost;
  const quantity = decimal(BigInt(count), scale);
  const priceOf = (pico: PicoUsd) => decimal(BigInt(pico) * 10n ** BigInt(scale), picoScale);
  const costOf = (pico: PicoUsd) => decimal(BigInt(count) * BigInt(pico), picoScale);
  const billed = decimal(row.costNano, nanoScale);
  const { model, priceVersion, served } = scope;
  const version = priceVersion === "" ? "unpriced" : priceVersion;
  const special = [...(served === "" ? [] : [served]), ...(scope.isLong ? ["long_context"] : [])];
  return {
    BilledCost: billed,
    EffectiveCost: billed,
    ContractedCost: costOf(row.price),
    ContractedUnitPrice: priceOf(row.price),
    ListCost: costOf(row.listPrice),
    ListUnitPrice: priceOf(row.listPrice),
    ChargeCategory: "Usage",
    ChargeDescription: `${model}: ${words(row.name)}${served === "" ? "" : ` (${served})`}`,
    ChargeFrequency: "Usage-Based",
    ConsumedQuantity: decimal(BigInt(isWhole ? calls : count), 0),
    ConsumedUnit: isWhole ? unitNames.call : unit,
    // Batch, flex, priority and other tiers have other prices.
    PricingCategory: served === "" ? "Standard" : "Other",
    PricingCurrencyContractedUnitPrice: priceOf(row.price),
    PricingCurrencyEffectiveCost: billed,
    PricingCurrencyListUnitPrice: priceOf(row.listPrice),
    PricingQuantity: quantity,
    PricingUnit: scale === 0 || isWhole ? unit : `${10 ** scale} ${unit}`,
    SkuId: `${model}/${row.name}`,
    SkuMeter: words(row.name),
    SkuPriceDetails: JSON.stringify({
      x_PriceVersion: version,
      ...(served === "" ? {} : { x_ServedAs: served }),
      ...(scope.isLong ? { x_LongContext: true } : {}),
    }),
    SkuPriceId: [version, model, row.name, ...special].join("/"),
    x_UsageClass: row.name,
  };
}

function adjustmentValues({ scope, cost }: FocusSum): Values {
  const billed = decimal(cost, nanoScale);
  return {
    BilledCost: billed,
    EffectiveCost: billed,
    ContractedCost: billed,
    ListCost: billed,
    PricingCurrencyEffectiveCost: billed,
    ChargeCategory: "Adjustment",
    ChargeDescription: `Adjustment: ${words(scope.adjustment)}${scope.adjusts === "" ? "" : ` of ${words(scope.adjusts)}`}`,
    ChargeFrequency: "One-Time",
    x_AdjustmentReason: scope.adjustment,
    x_Adjusts: scope.adjusts,
  };
}

function commonValues({ scope, tags }: FocusSum, { day, chargeDay, names, catalogue }: FocusContext): Values {
  const vendor = scope.provider === "" ? "Sluice" : (ownValue(catalogue.vendors, scope.provider) ?? scope.provider);
  const account = scope.provider === "" ? "sluice" : scope.provider;
  const [from, to] = monthOf(day);
  return {
    BillingAccountId: account,
    BillingAccountName: account,
    BillingAccountType: "Provider account",
    BillingCurrency: "USD",
    BillingPeriodStart: momentText(from),
    BillingPeriodEnd: momentText(to),
    // Only of a month that was complete before, and so may have been invoiced.
    ...(chargeDay < from ? { ChargeClass: "Correction" } : {}),
    ChargePeriodStart: momentText(chargeDay),
    ChargePeriodEnd: momentText(chargeDay + dayMs),
    InvoiceIssuerName: vendor,
    PricingCurrency: "USD",
    ProviderName: vendor,
    PublisherName: ownValue(catalogue.publishers, scope.model) ?? vendor,
    ServiceCategory: "AI and Machine Learning",
    ServiceName: `${vendor} models`,
    ServiceSubcategory: "Generative AI",
    SubAccountId: scope.workspaceId,
    SubAccountName: names.workspace.name,
    SubAccountType: "Workspace",
    Tags: JSON.stringify(Object.fromEntries(Object.entries(tags).sort(([one], [other]) => (one < other ? -1 : 1)))),
    x_Workspace: names.workspace.slug,
    x_GroupId: scope.groupId,
    x_Group: names.group,
    x_KeyId: scope.keyId,
    x_KeyName: names.key,
    x_PersonId: scope.personId,
    x_Person: names.person,
    x_Provider: scope.provider,
    x_Model: scope.model,
    x_UpstreamModel: scope.upstreamModel,
    x_ServedAs: scope.served,
    x_PriceVersion: scope.priceVersion,
    x_UsageSource: scope.usageSource,
    x_CostSource: scope.costSource === "" ? "price" : scope.costSource,
    x_ChargeDate: dateOf(chargeDay),
    x_RecordedDate: dateOf(day),
  };
}

const nanoScale = 9;
const picoScale = 12;

function words(name: string): string {
  return name.replaceAll("_", " ");
}

export function dateOf(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}

function momentText(at: number): string {
  return new Date(at).toISOString().replace(".000Z", "Z");
}

/** First moment of the month, and of the next one. */
function monthOf(day: number): readonly [number, number] {
  const date = new Date(day);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return [Date.UTC(year, month), Date.UTC(year, month + 1)];
}
