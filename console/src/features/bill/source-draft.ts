import type { BodyInput, ProviderBilling } from "@sluice/contract";
import { type BillingKind, isReadFromVendor } from "@sluice/contract/words";
import { t } from "../../language/areas/bill.ts";
import type { SecretDraft } from "../catalog/provider-draft.ts";
import type { Faults } from "../catalog/use-faults.ts";

export type AccountPart = "projects" | "workspaces" | "api_key_ids";

/** The state of the form of a billing source. */
export interface SourceDraft {
  readonly kind: BillingKind;
  readonly adminKey: SecretDraft;
  /** Empty: the vendor's own address. */
  readonly baseUrl: string;
  readonly account: Readonly<Record<AccountPart, readonly string[]>>;
  /** null: the default. */
  readonly lagDays: number | null;
  readonly tolerancePercent: number | null;
}

/** The parts of an account by which a vendor's bill can be filtered. */
export function accountParts(kind: BillingKind): readonly AccountPart[] {
  if (kind === "openai") return ["projects", "api_key_ids"];
  if (kind === "anthropic") return ["workspaces", "api_key_ids"];
  return kind === "openrouter" ? ["api_key_ids"] : [];
}

const usualKinds: ReadonlyMap<string, BillingKind> = new Map([
  ["openai", "openai"],
  ["anthropic", "anthropic"],
  ["openrouter", "openrouter"],
  ["bedrock", "cur"],
  ["vertex", "gcp"],
  ["gemini", "gcp"],
]);

/** The draft of the stored source; without one, of the usual source of this provider type. */
export function sourceDraftOf(stored: ProviderBilling | null, providerKind: string): SourceDraft {
  const { projects = [], workspaces = [], api_key_ids = [] } = stored?.account ?? {};
  return {
    kind: stored?.kind ?? usualKinds.get(providerKind) ?? "csv",
    adminKey: { how: "keep" },
    baseUrl: stored?.base_url ?? "",
    account: { projects, workspaces, api_key_ids },
    lagDays: stored?.lag_days ?? null,
    tolerancePercent: stored?.tolerance_percent ?? null,
  };
}

/** Whether the gateway keeps the stored key: a new kind or address removes it. */
export function keepsKey({ kind, baseUrl }: SourceDraft, stored: ProviderBilling | null): boolean {
  return stored?.has_admin_key === true && stored.kind === kind && (stored.base_url ?? "") === baseUrl.trim();
}

export function sourceFaults(draft: SourceDraft, stored: ProviderBilling | null): Faults {
  if (!isReadFromVendor(draft.kind)) return {};
  const isTyped = draft.adminKey.how === "set" && draft.adminKey.text.trim() !== "";
  const isKept = draft.adminKey.how === "keep" && keepsKey(draft, stored);
  return isTyped || isKept ? {} : { "billing.admin_key": t("bill.form.keyMissing") };
}

/** The body to save, without the fields that the kind does not use. */
export function sourceBody(draft: SourceDraft): NonNullable<BodyInput<"providers.update">["billing"]> {
  const { kind, adminKey, baseUrl, account, lagDays, tolerancePercent } = draft;
  const tolerance = tolerancePercent === null ? {} : { tolerance_percent: tolerancePercent };
  if (!isReadFromVendor(kind)) return { kind, ...tolerance };
  const parts = accountParts(kind).filter((part) => account[part].length > 0);
  return {
    ...{ kind, ...tolerance },
    ...(adminKey.how === "set" ? { admin_key: adminKey.text.trim() } : {}),
    ...(baseUrl.trim() === "" ? {} : { base_url: baseUrl.trim() }),
    ...(parts.length === 0 ? {} : { account: Object.fromEntries(parts.map((part) => [part, [...account[part]]])) }),
    ...(lagDays === null ? {} : { lag_days: lagDays }),
  };
}
