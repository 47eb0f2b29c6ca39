import type { ProviderConfig } from "@sluice/contract/config-file";
import type { ConsoleProvider } from "@sluice/contract/console";
import { type Conflict, conflictsOf } from "@sluice/contract/words";
import { columnsOf, Failure, membersOf, orNotFound, type Timeouts } from "#core/index.ts";
import type { ProviderDraft, Vault } from "#ports/index.ts";
import { insertRows, openedSettings, type Row, removeRows, sealId, sealIfChanged, updateRow } from "#storage/tables.ts";
import { refuseDraft, refuseExisting, refuseFileDeclared, refuseSuspended, shortList } from "../refusals.ts";
import { applyRows, findRow, findRows, installationObject, suspendOrRelease } from "../rows.ts";
import type { ControlDirectory, ControlWrite, KindDefaults } from "../store.ts";
import { billingView, sealedBilling, withStoredKey } from "./billing.ts";

type ProviderRow = Row<"providers">;

const providerObject = installationObject("providers", "id", {
  label: (row) => `provider ${row.id}`,
  view: providerView,
});

/** Finds unknown provider types, settings that the type does not accept, and missing base URLs. */
export function kindConflicts(providers: readonly ProviderConfig[], kindDefaults: KindDefaults): readonly Conflict[] {
  return providers.flatMap((provider, index): Conflict[] => {
    const defaults = kindDefaults(provider.kind, provider);
    if (defaults === null) {
      return [{ path: ["providers", index, "kind"], message: `there is no provider type "${provider.kind}"` }];
    }
    const problem = defaults.problem ?? null;
    if (problem !== null) return [{ path: ["providers", index, "settings"], message: problem }];
    if (provider.base_url !== undefined || (defaults.baseUrl ?? "") !== "") return [];
    return [
      { path: ["providers", index, "base_url"], message: `the provider type "${provider.kind}" needs a base_url` },
    ];
  });
}

function providerRow(context: ControlWrite, provider: ProviderConfig, before: ProviderRow | undefined): ProviderRow {
  const baseUrl = provider.base_url ?? context.kindDefaults(provider.kind, provider)?.baseUrl ?? "";
  return {
    id: provider.id,
    kind: provider.kind,
    base_url: baseUrl,
    sealed_secret: sealedSecret(context, provider, baseUrl, before),
    allow_private_network: provider.allow_private_network === true ? 1 : 0,
    timeouts: JSON.stringify(membersOf(provider.timeouts ?? {})),
    disconnect: provider.disconnect ?? null,
    sealed_settings: sealedSettings(context, provider, before),
    sealed_billing: sealedBilling(context, provider, before),
    enabled: provider.enabled === false ? 0 : 1,
    managed_by: context.owner,
    created_at: before?.created_at ?? context.at,
  };
}

function sealedSecret(
  context: ControlWrite,
  provider: ProviderConfig,
  baseUrl: string,
  before: ProviderRow | undefined,
): string | null {
  const stored = before?.sealed_secret ?? null;
  if (provider.api_key !== undefined) {
    return sealIfChanged(context.vault, sealId(provider.id, "secret"), stored, provider.api_key);
  }
  // A stored secret must not be sent to another address.
  return before?.base_url === baseUrl ? stored : null;
}

function sealedSettings(
  context: ControlWrite,
  provider: ProviderConfig,
  before: ProviderRow | undefined,
): string | null {
  const settings = provider.settings ?? {};
  if (Object.keys(settings).length === 0) return null;
  const stored = before?.sealed_settings ?? null;
  return sealIfChanged(context.vault, sealId(provider.id, "settings"), stored, JSON.stringify(settings));
}

/** Shows in the audit log whether encrypted values changed, never the values. */
function providerView(row: ProviderRow, before: ProviderRow | null) {
  return {
    id: row.id,
    kind: row.kind,
    base_url: row.base_url,
    api_key: sealedView(row.sealed_secret, before?.sealed_secret),
    settings: sealedView(row.sealed_settings, before?.sealed_settings),
    billing: sealedView(row.sealed_billing, before?.sealed_billing),
    allow_private_network: row.allow_private_network === 1,
    timeouts: JSON.parse(row.timeouts),
    disconnect: row.disconnect,
    enabled: row.enabled === 1,
    managed_by: row.managed_by,
  };
}

function sealedView(sealed: string | null, before: string | null | undefined): string | null {
  if (sealed === null) return null;
  return before === undefined || before === sealed ? "[redacted]" : "[redacted, changed]";
}

/** A stored provider with the field names of the API. `settings` are decrypted, so never show the secret ones. */
export type ProviderRecord = Omit<ConsoleProvider, "settings" | "deployments" | "health"> & {
  readonly settings: Readonly<Record<string, unknown>>;
};

export function providerRecord(row: ProviderRow, vault: Vault): ProviderRecord {
  const { id, kind, base_url, managed_by, created_at } = row;
  return {
    ...{ id, kind, base_url, managed_by, created_at },
    has_api_key: row.sealed_secret !== null,
    allow_private_network: row.allow_private_network === 1,
    timeouts: columnsOf(JSON.parse(row.timeouts) as Partial<Timeouts>),
    disconnect: row.disconnect === "drain" || row.disconnect === "cancel" ? row.disconnect : null,
    enabled: row.enabled === 1,
    settings: openedSettings(row, vault),
    billing: billingView(row, vault),
  };
}

export async function listProviders({ database, vault }: ControlDirectory): Promise<readonly ProviderRecord[]> {
  const rows = await findRows(database.kysely, "providers", {}, "id");
  return rows.map((row) => providerRecord(row, vault));
}

export async function provider({ database, vault }: ControlDirectory, id: string): Promise<ProviderRecord | null> {
  const row = await findRow(database.kysely, "providers", { id });
  return row === undefined ? null : providerRecord(row, vault);
}

export async function createProvider(context: ControlWrite, draft: ProviderDraft): Promise<ProviderRecord> {
  const { id } = draft;
  refuseExisting(await findRow(context.transaction, "providers", { id }), `provider ${id}`, "id");
  const row = checkedRow(context, draft, undefined);
  await insertRows(context, providerObject, [row]);
  return providerRecord(row, context.vault);
}

export async function updateProvider(
  context: ControlWrite,
  id: string,
  change: (before: ProviderRecord) => ProviderDraft,
): Promise<ProviderRecord> {
  const before = await rowNotFromFile(context, id);
  refuseSuspended(before, `provider ${id}`);
  const after = checkedRow(context, change(providerRecord(before, context.vault)), before);
  await updateRow(context, providerObject, { before, after });
  return providerRecord(after, context.vault);
}

/** Throws `conflict` while a deployment uses it. */
export async function removeProvider(context: ControlWrite, id: string): Promise<void> {
  const row = await rowNotFromFile(context, id);
  const users = await context.transaction
    .selectFrom("deployments")
    .select("model")
    .distinct()
    .where("provider", "=", id)
    .orderBy("model")
    .execute();
  if (users.length > 0) {
    const names = shortList(users.map(({ model }) => model));
    throw new Failure("conflict", `Models have deployments at ${id}: ${names}. Remove these deployments first.`);
  }
  await removeRows(context, providerObject, [row]);
}

async function rowNotFromFile(context: ControlWrite, id: string): Promise<ProviderRow> {
  const row = orNotFound(await findRow(context.transaction, "providers", { id }), "provider");
  refuseFileDeclared(row, `provider ${id}`);
  return row;
}

/** Checks a provider as part of a config file. */
function checkedRow(context: ControlWrite, draft: ProviderDraft, before: ProviderRow | undefined): ProviderRow {
  const { api_key, billing, ...rest } = draft;
  const config: ProviderConfig = {
    ...rest,
    ...(api_key == null ? {} : { api_key }),
    ...(billing == null ? {} : { billing: withStoredKey(context.vault, billing, before) }),
  };
  refuseDraft([...conflictsOf({ providers: [config] }), ...kindConflicts([config], context.kindDefaults)], 2);
  const declared = providerRow(context, config, before);
  const row = billing === undefined ? { ...declared, sealed_billing: before?.sealed_billing ?? null } : declared;
  return api_key === null ? { ...row, sealed_secret: null } : row;
}

/** Creates and updates providers. Returns the providers that the file no longer declares: suspend them after applying the models. */
export async function applyProviders(
  context: ControlWrite,
  providers: readonly ProviderConfig[],
): Promise<readonly ProviderRow[]> {
  const existing = await findRows(context.transaction, "providers", {});
  const byId = new Map(existing.map((row) => [row.id, row]));
  const wanted = providers.map((provider) => providerRow(context, provider, byId.get(provider.id)));
  return (await applyRows(context, providerObject, existing, wanted, (row) => row.id)).vanished;
}

/** A provider that other deployments still use is released to the console instead. */
export async function suspendProviders(context: ControlWrite, vanished: readonly ProviderRow[]): Promise<void> {
  for (const row of vanished) {
    const used = await context.transaction
      .selectFrom("deployments")
      .innerJoin("models", "models.name", "deployments.model")
      .select("deployments.id")
      .where("deployments.provider", "=", row.id)
      .where("models.managed_by", "!=", "suspended")
      .executeTakeFirst();
    await suspendOrRelease(context, providerObject, row, used !== undefined);
  }
}
