import type { ProviderConfig } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import { chunksOf, reconcile, updateAction } from "../../database/reconcile.ts";
import type { Row } from "../../database/schema.ts";
import { sealedAgain, sealId } from "../../vault/sealed-columns.ts";
import type { ApplyContext, KindDefaults } from "./apply-context.ts";

export type ProviderRow = Row<"providers">;

/** Creates and updates; gives the providers that vanished, to be removed once no deployment stands on them. */
export async function applyProviders(
  context: ApplyContext,
  providers: readonly ProviderConfig[],
): Promise<readonly ProviderRow[]> {
  const { transaction, log } = context;
  const existing = await transaction.selectFrom("providers").selectAll().execute();
  const byId = new Map(existing.map((row) => [row.id, row]));
  const wanted = providers.map((provider) => providerRow(context, provider, byId.get(provider.id)));
  const { create, update, vanished } = reconcile(existing, wanted, (row) => row.id);
  for (const chunk of chunksOf(create))
    await transaction
      .insertInto("providers")
      .values([...chunk])
      .execute();
  for (const row of create) log.record("create", `provider ${row.id}`, null, providerView(row, null));
  for (const { before, after } of update) {
    await transaction.updateTable("providers").set(after).where("id", "=", after.id).execute();
    log.record(updateAction(before), `provider ${after.id}`, providerView(before, null), providerView(after, before));
  }
  if (create.length + update.length > 0) log.catalogChanged();
  return vanished;
}

/** A provider that deployments made elsewhere still use is handed over instead of removed. */
export async function removeProviders(context: ApplyContext, vanished: readonly ProviderRow[]): Promise<void> {
  const { transaction, log } = context;
  for (const row of vanished) {
    const used = await transaction
      .selectFrom("deployments")
      .select("id")
      .where("provider", "=", row.id)
      .executeTakeFirst();
    if (used === undefined) {
      await transaction.deleteFrom("providers").where("id", "=", row.id).execute();
      log.record("remove", `provider ${row.id}`, providerView(row, null), null);
    } else {
      const after: ProviderRow = { ...row, managed_by: "console" };
      await transaction.updateTable("providers").set({ managed_by: "console" }).where("id", "=", row.id).execute();
      log.record("release", `provider ${row.id}`, providerView(row, null), providerView(after, row));
    }
    log.catalogChanged();
  }
}

/** Kinds nobody knows, settings that their kind cannot use, and kinds that have no address and were given none. */
export function kindConflicts(providers: readonly ProviderConfig[], kindDefaults: KindDefaults): readonly Conflict[] {
  return providers.flatMap((provider, index): Conflict[] => {
    const defaults = kindDefaults(provider.kind, provider);
    if (defaults === null) {
      return [
        { path: ["providers", index, "kind"], message: `there is no kind of provider called "${provider.kind}"` },
      ];
    }
    const problem = defaults.problem ?? null;
    if (problem !== null) return [{ path: ["providers", index, "settings"], message: problem }];
    if (provider.base_url !== undefined || (defaults.baseUrl ?? "") !== "") return [];
    return [{ path: ["providers", index, "base_url"], message: `the kind "${provider.kind}" needs a base_url` }];
  });
}

export function providerRow(
  context: ApplyContext,
  provider: ProviderConfig,
  before: ProviderRow | undefined,
): ProviderRow {
  const baseUrl = provider.base_url ?? context.kindDefaults(provider.kind, provider)?.baseUrl ?? "";
  const { connect_ms, headers_ms, first_event_ms, idle_ms, total_ms } = provider.timeouts ?? {};
  return {
    id: provider.id,
    kind: provider.kind,
    base_url: baseUrl,
    sealed_secret: sealedSecret(context, provider, baseUrl, before),
    allow_private_network: provider.allow_private_network === true ? 1 : 0,
    timeouts: JSON.stringify({
      connectMs: connect_ms,
      headersMs: headers_ms,
      firstEventMs: first_event_ms,
      idleMs: idle_ms,
      totalMs: total_ms,
    }),
    disconnect: provider.disconnect ?? null,
    sealed_settings: sealedSettings(context, provider, before),
    enabled: provider.enabled === false ? 0 : 1,
    managed_by: context.owner,
    created_at: before?.created_at ?? context.at,
  };
}

function sealedSecret(
  context: ApplyContext,
  provider: ProviderConfig,
  baseUrl: string,
  before: ProviderRow | undefined,
): string | null {
  const stored = before?.sealed_secret ?? null;
  if (provider.api_key !== undefined) {
    return sealedAgain(context.vault, sealId(provider.id, "secret"), stored, provider.api_key);
  }
  // Whoever may change the address must not thereby be sent a secret that was given for another one.
  return before?.base_url === baseUrl ? stored : null;
}

function sealedSettings(
  context: ApplyContext,
  provider: ProviderConfig,
  before: ProviderRow | undefined,
): string | null {
  const settings = provider.settings ?? {};
  if (Object.keys(settings).length === 0) return null;
  const stored = before?.sealed_settings ?? null;
  return sealedAgain(context.vault, sealId(provider.id, "settings"), stored, JSON.stringify(settings));
}

/** What an audit row shows: that a sealed value is there and whether it changed, never the value. */
export function providerView(row: ProviderRow, before: ProviderRow | null) {
  return {
    id: row.id,
    kind: row.kind,
    base_url: row.base_url,
    api_key: sealedView(row.sealed_secret, before?.sealed_secret),
    settings: sealedView(row.sealed_settings, before?.sealed_settings),
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
