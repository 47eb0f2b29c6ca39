import type { LedgerExportConfig, SettingsChange, SettingsConfig, UnpricedPolicy } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import type { Settings } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import {
  type AuditedObject,
  type Connection,
  type Database,
  insertRows,
  type ManagedBy,
  type Row,
  reconcile,
  removeRows,
  updateRow,
} from "#storage/tables.ts";
import { type ApplyContext, type ControlOptions, consoleWrite } from "./control-options.ts";
import { refuseDraft, refuseFileOwned } from "./refusals.ts";

/** The settings of the installation, each a row; one that is missing has its default. */
export async function applySettings(context: ApplyContext, settings: SettingsConfig): Promise<void> {
  const existing = await context.transaction
    .selectFrom("settings")
    .selectAll()
    .where("managed_by", "!=", "system")
    .execute();
  const { create, update, vanished } = reconcile(existing, settingRows(settings, context.owner), (row) => row.name);
  await insertRows(context, settingObject, create);
  for (const change of update) await updateRow(context, settingObject, change);
  await removeRows(context, settingObject, vanished);
}

/** What these settings ask for and an installation on this database does not have. */
export function settingConflicts(
  settings: SettingsChange,
  { flavour }: Pick<Database, "flavour">,
): readonly Conflict[] {
  if (settings.ledger?.durability !== "remote" || flavour.name === "postgres") return [];
  return [
    {
      path: ["settings", "ledger", "durability"],
      message: "`remote` needs PostgreSQL (SLUICE_DATABASE_URL); with SQLite `strict` is the strongest there is",
    },
  ];
}

/** Settings as every writer writes them. */
const settingObject: AuditedObject<"settings"> = {
  table: "settings",
  idColumn: "name",
  label: (row) => `setting ${row.name}`,
  view: (row) => row,
  workspaceOf: () => null,
  notify: (log) => log.configChanged(),
};

export interface StoredSettings {
  readonly settings: Settings;
  readonly disconnectDefault: "cancel" | "drain";
  /** As it was written. */
  readonly ledgerExport: LedgerExportConfig | null;
}

export async function readSettings(connection: Connection): Promise<StoredSettings> {
  const rows = await connection.selectFrom("settings").selectAll().where("managed_by", "!=", "system").execute();
  const stored = new Map(rows.map((row) => [row.name, row.value]));
  const read = <T>(name: SettingName, otherwise: T): T => {
    const text = stored.get(name);
    return text === undefined ? otherwise : JSON.parse(text);
  };
  const ledgerExport = read<LedgerExportConfig | null>("ledger.export", null);
  return {
    settings: Object.freeze({
      logBodies: "none",
      ledgerDurability: read<Settings["ledgerDurability"]>("ledger.durability", "disk"),
      ledgerRetentionDays: read("ledger.retention_days", 400),
      ledgerExport: exportPlace(ledgerExport),
      explanationRetentionDays: read("explanations.retention_days", 30),
      captureRetentionDays: read("captures.retention_days", 7),
      auditRetentionDays: read("audit.retention_days", 3_650),
      drainTimeoutMs: read("drain_timeout_ms", 120_000),
      keysStaleMaxMs: read("keys.stale_max", 3_600) * 1_000,
      retrySent: read("retry_sent", false),
      unpriced: read<Settings["unpriced"]>("unpriced", "block_in_budgets"),
      videoCopyResults: read("video.copy_results", false),
    }),
    disconnectDefault: read<StoredSettings["disconnectDefault"]>("disconnect.default", "cancel"),
    ledgerExport,
  };
}

/** Where the ledger is copied to, asked of a database that may belong to a gateway that runs. */
export async function ledgerExportPlace({ kysely }: Database): Promise<Settings["ledgerExport"]> {
  return (await readSettings(kysely)).settings.ledgerExport;
}

type SettingName =
  | "log_bodies"
  | "ledger.durability"
  | "ledger.retention_days"
  | "ledger.export"
  | "explanations.retention_days"
  | "captures.retention_days"
  | "audit.retention_days"
  | "disconnect.default"
  | "drain_timeout_ms"
  | "keys.stale_max"
  | "retry_sent"
  | "unpriced"
  | "video.copy_results";

type SettingValue = string | number | boolean | UnpricedPolicy | LedgerExportConfig;

function exportPlace(said: LedgerExportConfig | null): Settings["ledgerExport"] {
  if (said === null) return null;
  const { bucket, prefix = "", region = "us-east-1", endpoint = null } = said;
  return Object.freeze({ bucket, prefix, region, endpoint });
}

/** A row for each setting that is said. */
function settingRows(settings: SettingsChange, owner: ManagedBy): Row<"settings">[] {
  const values: Readonly<Record<SettingName, SettingValue | undefined>> = {
    log_bodies: settings.log_bodies,
    "ledger.durability": settings.ledger?.durability,
    "ledger.retention_days": settings.ledger?.retention_days,
    "ledger.export": settings.ledger?.export ?? undefined,
    "explanations.retention_days": settings.explanations?.retention_days,
    "captures.retention_days": settings.captures?.retention_days,
    "audit.retention_days": settings.audit?.retention_days,
    "disconnect.default": settings.disconnect?.default,
    drain_timeout_ms: settings.drain_timeout_ms,
    "keys.stale_max": settings.keys?.stale_max,
    retry_sent: settings.retry_sent,
    unpriced: settings.unpriced,
    "video.copy_results": settings.video?.copy_results,
  };
  return Object.entries(values).flatMap(([name, value]): Row<"settings">[] =>
    value === undefined ? [] : [{ name, value: JSON.stringify(value), managed_by: owner }],
  );
}

/** The current settings with all defaults. `managedByFile`: the names that the config file sets. */
export async function settingsInForce({ database: { kysely } }: ControlOptions) {
  const { settings, disconnectDefault, ledgerExport } = await readSettings(kysely);
  const fromFile = await kysely
    .selectFrom("settings")
    .select("name")
    .where("managed_by", "=", "file")
    .orderBy("name")
    .execute();
  const config: SettingsConfig = {
    log_bodies: settings.logBodies,
    ledger: {
      durability: settings.ledgerDurability,
      retention_days: settings.ledgerRetentionDays,
      ...(ledgerExport === null ? {} : { export: ledgerExport }),
    },
    explanations: { retention_days: settings.explanationRetentionDays },
    captures: { retention_days: settings.captureRetentionDays },
    audit: { retention_days: settings.auditRetentionDays },
    disconnect: { default: disconnectDefault },
    video: { copy_results: settings.videoCopyResults },
    drain_timeout_ms: settings.drainTimeoutMs,
    keys: { stale_max: settings.keysStaleMaxMs / 1_000 },
    retry_sent: settings.retrySent,
    unpriced: settings.unpriced,
  };
  return { settings: config, managedByFile: fromFile.map((row) => row.name) };
}

/** Fields that are left out do not change; null takes a setting away. */
export async function updateSettings(
  options: ControlOptions,
  change: SettingsChange,
  auditSource: AuditSource,
): Promise<void> {
  refuseDraft(settingConflicts(change, options.database), 1);
  await consoleWrite(options, auditSource, async (under) => {
    const stored = (name: string) =>
      under.transaction.selectFrom("settings").selectAll().where("name", "=", name).executeTakeFirst();
    for (const after of settingRows(change, under.owner)) {
      const before = await stored(after.name);
      // A form sends back what it was shown: the same value is no change, whoever owns it.
      if (before?.value === after.value) continue;
      if (before === undefined) await insertRows(under, settingObject, [after]);
      else {
        refuseFileOwned(before, `setting ${after.name}`);
        await updateRow(under, settingObject, { before, after });
      }
    }
    const gone = change.ledger?.export === null ? await stored("ledger.export") : undefined;
    if (gone === undefined) return;
    refuseFileOwned(gone, `setting ${gone.name}`);
    await removeRows(under, settingObject, [gone]);
  });
}
