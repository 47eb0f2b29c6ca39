import type { ProviderConfig } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import type { Timeouts } from "#core/index.ts";
import type { ProviderRecord, Vault } from "#ports/index.ts";
import { type AuditedObject, openedSettings, type Row, sealedAgain, sealId } from "#storage/tables.ts";
import type { ApplyContext, KindDefaults } from "../control-options.ts";

export type ProviderRow = Row<"providers">;

/** Providers as every writer writes them. */
export const providerObject: AuditedObject<"providers"> = {
  table: "providers",
  idColumn: "id",
  label: (row) => `provider ${row.id}`,
  view: (row, before) => providerView(row, before),
  workspaceOf: () => null,
  notify: (log) => log.configChanged(),
};

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
function providerView(row: ProviderRow, before: ProviderRow | null) {
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

/** A provider as it is stored, in the words of the config file. */
export function providerRecord(row: ProviderRow, vault: Vault): ProviderRecord {
  const timeouts: Partial<Timeouts> = JSON.parse(row.timeouts);
  const { connectMs, headersMs, firstEventMs, idleMs, totalMs } = timeouts;
  return {
    id: row.id,
    kind: row.kind,
    baseUrl: row.base_url,
    hasApiKey: row.sealed_secret !== null,
    allowPrivateNetwork: row.allow_private_network === 1,
    timeouts: {
      ...(connectMs === undefined ? {} : { connect_ms: connectMs }),
      ...(headersMs === undefined ? {} : { headers_ms: headersMs }),
      ...(firstEventMs === undefined ? {} : { first_event_ms: firstEventMs }),
      ...(idleMs === undefined ? {} : { idle_ms: idleMs }),
      ...(totalMs === undefined ? {} : { total_ms: totalMs }),
    },
    disconnect: row.disconnect === "drain" || row.disconnect === "cancel" ? row.disconnect : null,
    enabled: row.enabled === 1,
    settings: openedSettings(row, vault),
    managedBy: row.managed_by,
    createdAt: row.created_at,
  };
}
