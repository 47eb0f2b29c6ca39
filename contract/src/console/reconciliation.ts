import { z } from "zod";
import { billBytesMax, billCauses, billClasses, billingKinds } from "../bill-classes.ts";
import { route } from "./route.ts";
import { at, cost, id, maybeAt } from "./words.ts";

const day = z.iso.date().describe("UTC day, such as `2026-11-28`.");
const fileKinds = z.enum(["csv", "focus", "cur", "gcp"]);

const billDaySchema = z.object({
  provider: z.string(),
  day,
  source: z.enum(billingKinds),
  state: z.enum(["matched", "different"]).describe("`matched`: no difference above the tolerance is unexplained."),
  read_at: at,
  our_usd: cost.describe("USD in the ledger, with adjustments."),
  their_usd: cost.describe("USD on the bill."),
  differing_usd: z.number().nonnegative().describe("USD of differences that are neither booked nor explained."),
  estimated_usd: z.number().nonnegative().describe("USD of differences due to estimated usage."),
  foreign_usd: z.number().nonnegative().describe("USD of calls that did not go through this gateway."),
});
export type BillDayRow = z.infer<typeof billDaySchema>;

const billSourceSchema = z.object({
  provider: z.string(),
  kind: z.enum(billingKinds),
  tolerance_percent: z.number(),
  lag_days: z.int(),
  read_at: maybeAt.describe("The last reading. null: none."),
  problem: z.string().nullable().describe("Why the last reading failed. null: it succeeded."),
});
export type BillSource = z.infer<typeof billSourceSchema>;

const lineSchema = z.object({
  model: z.string().describe("The vendor's name. Empty: a charge without a model, such as a credit."),
  class: z.enum(billClasses),
  our_models: z.array(z.string()),
  our_units: z.number(),
  our_usd: cost,
  adjusted_usd: cost.describe("Adjustments that were booked; not part of `our_usd`."),
  their_units: z.number().nullable().describe("null: the bill has no quantity."),
  their_usd: cost,
  difference_usd: cost.describe("Theirs minus ours and minus adjustments."),
  state: z.enum(["matched", "different", "explained"]),
  causes: z.array(
    z.object({
      cause: z.enum(billCauses),
      units: z.number().nullable().describe("null: not a difference in units."),
      usd: cost,
    }),
  ),
  vendor_price: z
    .number()
    .nullable()
    .describe(
      "The price that the vendor charged if ours is wrong, in USD per million tokens. null: not a wrong price.",
    ),
  decisions: z.array(
    z.object({
      action: z.enum(["adjusted", "priced", "explained"]),
      usd: cost.describe("The difference at that time."),
      note: z.string(),
      actor: z.string(),
      at,
    }),
  ),
});
export type BillLineRow = z.infer<typeof lineSchema>;

const dayAnswer = billDaySchema.extend({ lines: z.array(lineSchema) });
export type BillDayDetail = z.infer<typeof dayAnswer>;

const lineName = {
  model: z.string().max(256).describe("`model` of the line."),
  class: z.enum(billClasses),
};

export const reconciliationRoutes = {
  "reconciliation.list": route({
    method: "GET",
    path: "/api/reconciliation",
    summary: "List days of vendors' bills, compared with the ledger",
    needs: "administrator",
    query: z.object({ provider: id.optional(), from: day, to: day.describe("The last day.") }),
    answer: z.object({ sources: z.array(billSourceSchema), data: z.array(billDaySchema) }),
  }),
  "reconciliation.read": route({
    method: "POST",
    path: "/api/reconciliation/{provider}/read",
    summary: "Read a bill from the vendor now and compare it",
    needs: "administrator",
    body: z.strictObject({
      from: day.optional().describe("Default: the last seven complete days."),
      to: day.optional().describe("The last day."),
    }),
    answer: z.object({ data: z.array(billDaySchema) }),
  }),
  "reconciliation.upload": route({
    method: "POST",
    path: "/api/reconciliation/{provider}/file",
    summary: "Compare a bill from a file. It replaces earlier bills of its days",
    needs: "administrator",
    body: z.strictObject({
      text: z.string().min(1).max(billBytesMax).describe("The file: CSV, or JSON lines for `gcp`."),
      format: fileKinds.optional().describe("Default: the kind of the provider's billing source."),
    }),
    // JSON escapes each quote and each end of a line with another byte.
    bodyBytesMax: 2 * billBytesMax + 1024,
    answer: z.object({ data: z.array(billDaySchema) }),
  }),
  "reconciliation.show": route({
    method: "GET",
    path: "/api/reconciliation/{provider}/{day}",
    summary: "Get the differences of one day",
    needs: "administrator",
    answer: dayAnswer,
  }),
  "reconciliation.accept": route({
    method: "POST",
    path: "/api/reconciliation/{provider}/{day}/accept",
    summary: "Book the difference of a line as an adjustment, split over all users of the model on that day",
    needs: "administrator",
    body: z.strictObject(lineName),
    answer: dayAnswer,
  }),
  "reconciliation.takePrice": route({
    method: "POST",
    path: "/api/reconciliation/{provider}/{day}/price",
    summary: "Set the price that the vendor charged, as a new version from now on",
    needs: "administrator",
    body: z.strictObject({
      ...lineName,
      our_model: z.string().min(1).max(256).describe("The gateway's model to price."),
    }),
    answer: dayAnswer,
  }),
  "reconciliation.explain": route({
    method: "POST",
    path: "/api/reconciliation/{provider}/{day}/explain",
    summary: "Mark the difference of a line as explained, until it changes",
    needs: "administrator",
    body: z.strictObject({ ...lineName, note: z.string().trim().min(1).max(1_000) }),
    answer: dayAnswer,
  }),
} as const;
