/**
 * Classes in which vendors bill usage. `input` excludes cached tokens. `all`: an amount for a whole model, without classes. `credit`:
 * credits and refunds.
 */
export const billClasses = [
  "input",
  "cache_read",
  "cache_write",
  "output",
  "requests",
  "tools",
  "other",
  "all",
  "credit",
] as const;
export type BillClass = (typeof billClasses)[number];

/**
 * Why a bill and the ledger differ. `day_edge`: calls that ran over midnight (UTC). `not_billed`: the vendor billed less usage than it
 * reported in its answers. `past_gateway`: calls of the account that did not go through this gateway.
 */
export const billCauses = [
  "wrong_price",
  "past_gateway",
  "estimated",
  "broken_streams",
  "day_edge",
  "tier",
  "credit",
  "rounding",
  "not_billed",
] as const;
export type BillCause = (typeof billCauses)[number];

/** The largest bill that is uploaded. */
export const billBytesMax = 16 * 1024 * 1024;

/** Where bills come from. `openai`, `anthropic` and `openrouter` are read from the vendor; the others are uploaded. */
export const billingKinds = ["openai", "anthropic", "openrouter", "cur", "gcp", "csv", "focus"] as const;
export type BillingKind = (typeof billingKinds)[number];
export type VendorBillingKind = Extract<BillingKind, "openai" | "anthropic" | "openrouter">;

export function isReadFromVendor(kind: BillingKind): kind is VendorBillingKind {
  return kind === "openai" || kind === "anthropic" || kind === "openrouter";
}
