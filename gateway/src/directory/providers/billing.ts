import type { BillingConfig, ProviderConfig } from "@sluice/contract/config-file";
import type { ProviderBilling } from "@sluice/contract/console";
import { Secret } from "#core/index.ts";
import type { Vault } from "#ports/index.ts";
import { type Row, sealId, sealIfChanged } from "#storage/tables.ts";
import { findRows } from "../rows.ts";
import type { ControlDirectory, ControlWrite } from "../store.ts";

type BillingColumns = Pick<Row<"providers">, "id" | "sealed_billing">;

/** Where the bills of a provider come from, with the key that reads them. */
export interface BillingAccount extends Omit<BillingConfig, "admin_key"> {
  readonly providerId: string;
  /** null: bills are uploaded. */
  readonly adminKey: Secret | null;
}

/** The billing source of a provider without its key; null: none. */
export function billingView(row: BillingColumns, vault: Vault): ProviderBilling | null {
  const billing = openedBilling(row, vault);
  if (billing === null) return null;
  const { kind, base_url = null, account = {}, tolerance_percent = null, lag_days = null, admin_key } = billing;
  return { kind, base_url, account, tolerance_percent, lag_days, has_admin_key: admin_key !== undefined };
}

export async function billingAccounts({ database, vault }: ControlDirectory): Promise<readonly BillingAccount[]> {
  const rows = await findRows(database.kysely, "providers", {}, "id");
  return rows.flatMap((row) => {
    const billing = row.managed_by === "suspended" ? null : openedBilling(row, vault);
    if (billing === null) return [];
    const { admin_key, ...rest } = billing;
    return [{ ...rest, providerId: row.id, adminKey: admin_key === undefined ? null : new Secret(admin_key) }];
  });
}

/** With the stored key if none was sent, unless it would be sent to another address. */
export function withStoredKey(vault: Vault, sent: BillingConfig, before: BillingColumns | undefined): BillingConfig {
  const stored = before === undefined ? null : openedBilling(before, vault);
  const isSame = stored?.kind === sent.kind && stored.base_url === sent.base_url;
  if (sent.admin_key !== undefined || !isSame || stored.admin_key === undefined) return sent;
  return { ...sent, admin_key: stored.admin_key };
}

export function sealedBilling(
  { vault }: Pick<ControlWrite, "vault">,
  { id, billing }: Pick<ProviderConfig, "id" | "billing">,
  before: BillingColumns | undefined,
): string | null {
  if (billing === undefined) return null;
  return sealIfChanged(vault, sealId(id, "billing"), before?.sealed_billing ?? null, JSON.stringify(billing));
}

function openedBilling(row: BillingColumns, vault: Vault): BillingConfig | null {
  if (row.sealed_billing === null) return null;
  return JSON.parse(vault.open(row.sealed_billing, sealId(row.id, "billing")).reveal()) as BillingConfig;
}
