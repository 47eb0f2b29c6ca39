import {
  type BillLine,
  type BillRows,
  classNamed,
  countIn,
  dayOf,
  decimalToNano,
  objectOf,
  objectsOf,
  plainText,
  textIn,
} from "../bill.ts";
import { amountIn, dayIn, refuseCurrency, scaledUnits, tableBill } from "./csv.ts";
import { tierOf } from "./openai.ts";
import { badFile, fieldIn, jsonRows } from "./tables.ts";

/**
 * AWS CUR 2.0 as CSV. Usage types name model and class, with quantities in thousands of tokens:
 * `USE1-Claude5Sonnet-input-tokens`, `USE1-Nova2Pro-cache-read-input-token-count-batch`.
 */
export function curBill(text: string): BillRows {
  return tableBill(text, [cur.day, cur.type, cur.cost], (row) => {
    const product = fieldIn(row, ["line_item_product_code", "product_servicecode", "product_product_name"]);
    if (product !== null && !/bedrock/i.test(product)) return null;
    const kind = fieldIn(row, ["line_item_line_item_type"]) ?? "Usage";
    if (/^tax$/i.test(kind)) return null;
    refuseCurrency(fieldIn(row, ["line_item_currency_code"]));
    const type = fieldIn(row, cur.type) ?? "";
    const isCredit = /credit|refund|discount/i.test(kind);
    const read = usageType(type);
    return {
      day: dayIn(row, cur.day),
      model: read.model,
      usageClass: isCredit ? "credit" : read.usageClass,
      units:
        isCredit || read.usageClass === "other" ? null : scaledUnits(fieldIn(row, ["line_item_usage_amount"]), "1K"),
      costNanoUsd: amountIn(row, cur.cost),
      requests: null,
      tier: read.tier,
    };
  });
}

const cur = {
  day: ["line_item_usage_start_date"],
  type: ["line_item_usage_type"],
  cost: ["line_item_net_unblended_cost", "line_item_unblended_cost"],
} as const;

const tokenTypes =
  /-((?:mantle-)?(?:cache-(?:read|write)(?:-1h)?-)?(?:input|output)-token(?:s|-count))((?:-[a-z]+)*)$/i;

/** The part after the region, up to the class, is the model. */
function usageType(type: string) {
  const [whole, named = "", rest = ""] = tokenTypes.exec(type) ?? [];
  if (whole === undefined) return { model: type, usageClass: "other", tier: null } as const;
  const model = type.slice(0, -whole.length).replace(/^[A-Z]{3,4}\d?-/, "");
  const tier = /-(batch|flex|priority)\b/i.exec(rest)?.[1] ?? null;
  return { model, usageClass: classNamed(named), tier: tierOf(tier) };
}

/** Rows of Google's billing export, as a JSON array or as JSON lines. Net cost is `cost` plus `credits[]`, in USD by their rate. */
export function* gcpBill(text: string): BillRows {
  for (const row of jsonRows(text)) {
    const service = textIn(objectOf(row["service"]), "description") ?? "";
    if (textIn(row, "cost_type") === "tax" || !/vertex|gemini|generative/i.test(service)) {
      yield null;
      continue;
    }
    const day = dayOf(textIn(row, "usage_start_time") ?? "");
    if (day === null) throw badFile("a row has no usage_start_time");
    const rate = Number(textIn(row, "currency_conversion_rate") ?? "1");
    const usd = (text: string | null) => Math.round((decimalToNano(text ?? "0") ?? 0) / (rate > 0 ? rate : 1));
    const sku = plainText(textIn(objectOf(row["sku"]), "description") ?? "");
    const usage = objectOf(row["usage"]);
    const place = {
      day,
      model: modelOfSku(sku),
      requests: null,
      tier: tierOf(/\b(batch|flex|priority)\b/i.exec(sku)?.[1] ?? null),
    };
    const amount = countIn(usage, "amount_in_pricing_units");
    const units = amount === null ? null : scaledUnits(String(amount), plainText(textIn(usage, "pricing_unit") ?? ""));
    const credits = objectsOf(row["credits"]).reduce((sum, credit) => sum + usd(textIn(credit, "amount")), 0);
    const line: BillLine = { ...place, usageClass: classNamed(sku), units, costNanoUsd: usd(textIn(row, "cost")) };
    yield line;
    if (credits !== 0) yield { ...line, usageClass: "credit", units: null, costNanoUsd: credits };
  }
}

/** `Gemini 3.8 Flash Text Input - Predictions` is `gemini-3.8-flash`. */
function modelOfSku(sku: string): string {
  const [name = sku] = sku.split(
    /\s+(?:text|image|audio|video|input|output|cach\w*|batch|flex|priority|predictions?|-)\b/i,
  );
  return name.trim().toLowerCase().replace(/\s+/g, "-");
}
