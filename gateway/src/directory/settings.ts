import type { LedgerExportConfig, SettingsChange, SettingsConfig } from "@sluice/contract/config-file";
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

/**
 * Every setting by its path in the config file, with what holds while nobody sets it. One that is set is a row of `settings`; the
 * config file, the admin API, the export and the audit log go by this table.
 */
const defaults = {
  log_bodies: "none",
  "ledger.durability": "disk",
  "ledger.retention_days": 400,
  "ledger.export": null,
  "explanations.retention_days": 30,
  "captures.retention_days": 7,
  "audit.retention_days": 3_650,
  "disconnect.default": "cancel",
  drain_timeout_ms: 120_000,
  "keys.stale_max": 3_600,
  retry_sent: false,
  unpriced: "block_in_budgets",
  "video.copy_results": false,
} as const;

type SettingName = keyof typeof defaults;

type ValueAt<Config, Path> = Path extends `${infer Head}.${infer Rest}`
  ? ValueAt<NonNullable<Config[Head & keyof Config]>, Rest>
  : NonNullable<Config[Path & keyof Config]>;

type SettingValues = {
  readonly [Name in SettingName]: ValueAt<SettingsConfig, Name> | ((typeof defaults)[Name] & null);
};

const settingNames = Object.keys(defaults) as readonly SettingName[];

async function settingValues(connection: Connection): Promise<SettingValues> {
  const rows = await connection.selectFrom("settings").selectAll().where("managed_by", "!=", "system").execute();
  const stored = new Map(rows.map((row) => [row.name, row.value]));
  const values = settingNames.map((name) => {
    const text = stored.get(name);
    return [name, text === undefined ? defaults[name] : JSON.parse(text)];
  });
  return Object.fromEntries(values) as SettingValues;
}

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
}

export async function readSettings(connection: Connection): Promise<StoredSettings> {
  const values = await settingValues(connection);
  return {
    settings: Object.freeze({
      logBodies: "none",
      ledgerDurability: values["ledger.durability"],
      ledgerRetentionDays: values["ledger.retention_days"],
      ledgerExport: exportPlace(values["ledger.export"]),
      explanationRetentionDays: values["explanations.retention_days"],
      captureRetentionDays: values["captures.retention_days"],
      auditRetentionDays: values["audit.retention_days"],
      drainTimeoutMs: values.drain_timeout_ms,
      keysStaleMaxMs: values["keys.stale_max"] * 1_000,
      retrySent: values.retry_sent,
      unpriced: values.unpriced,
      videoCopyResults: values["video.copy_results"],
    }),
    disconnectDefault: values["disconnect.default"],
  };
}

/** Where the ledger is copied to, asked of a database that may belong to a gateway that runs. */
export async function ledgerExportPlace({ kysely }: Database): Promise<Settings["ledgerExport"]> {
  return (await readSettings(kysely)).settings.ledgerExport;
}

function exportPlace(said: LedgerExportConfig | null): Settings["ledgerExport"] {
  if (said === null) return null;
  const { bucket, prefix = "", region = "us-east-1", endpoint = null } = said;
  return Object.freeze({ bucket, prefix, region, endpoint });
}

/** A row for each setting that is given. */
function settingRows(settings: SettingsChange, owner: ManagedBy): Row<"settings">[] {
  return settingNames.flatMap((name): Row<"settings">[] => {
    const value = name.split(".").reduce((part: unknown, step) => (part as Fields | undefined)?.[step], settings);
    return value == null ? [] : [{ name, value: JSON.stringify(value), managed_by: owner }];
  });
}

type Fields = Record<string, unknown>;

/** The current settings with all defaults. `managedByFile`: the names that the config file sets. */
export async function settingsInForce({ database: { kysely } }: ControlOptions) {
  const values = await settingValues(kysely);
  const fromFile = await kysely
    .selectFrom("settings")
    .select("name")
    .where("managed_by", "=", "file")
    .orderBy("name")
    .execute();
  const settings = settingsConfig(settingNames.map((name) => [name, values[name]]));
  return { settings, managedByFile: fromFile.map((row) => row.name) };
}

/** Settings by their paths, as the config file has them; null: left out. */
export function settingsConfig(values: readonly (readonly [name: string, value: unknown])[]): SettingsConfig {
  const settings: Fields = {};
  for (const [name, value] of values) {
    if (value === null) continue;
    const [field, inner] = name.split(".") as [string, string?];
    settings[field] = inner === undefined ? value : { ...(settings[field] as Fields | undefined), [inner]: value };
  }
  return settings as SettingsConfig;
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
