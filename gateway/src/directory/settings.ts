import type { LedgerExportConfig, SettingsChange, SettingsConfig } from "@sluice/contract/config-file";
import { type Conflict, nestedSettings, settingAt, settingDefaults, settingsTable } from "@sluice/contract/words";
import type { LedgerExportPlace, Settings } from "#core/index.ts";
import {
  type Connection,
  type Database,
  insertRows,
  type ManagedBy,
  type Row,
  removeRows,
  updateRow,
} from "#storage/tables.ts";
import { refuseDraft, refuseFileOwned } from "./refusals.ts";
import { applyRows, findRow, findRows, installationObject, not } from "./rows.ts";
import type { ControlDirectory, ControlWrite } from "./store.ts";

/** Each setting that is not at its default is a row, named by its path in the config file. */
const settingObject = installationObject("settings", "name", {
  label: (row) => `setting ${row.name}`,
  // An image is too large for the audit log.
  view: (row) => (row.value.length > valueMax ? { ...row, value: `${row.value.slice(0, valueMax)}…` } : row),
});

/** Characters of a value in the audit log. */
const valueMax = 4_000;

export async function applySettings(context: ControlWrite, settings: SettingsConfig): Promise<void> {
  const existing = await findRows(context.transaction, "settings", { managed_by: not("system") });
  const wanted = settingRows(settings, context.owner);
  const { vanished } = await applyRows(context, settingObject, existing, wanted, (row) => row.name);
  await removeRows(context, settingObject, vanished);
}

/** Settings that this database does not support. */
export function settingConflicts(
  settings: SettingsChange,
  { flavour }: Pick<Database, "flavour">,
): readonly Conflict[] {
  if (settings.ledger?.durability !== "remote" || flavour.name === "postgres") return [];
  const message = "`remote` needs PostgreSQL (SLUICE_DATABASE_URL); the strongest setting with SQLite is `strict`";
  return [{ path: ["settings", "ledger", "durability"], message }];
}

/** Fields that are left out do not change; null resets a setting to its default. */
export async function updateSettings(context: ControlWrite, change: SettingsChange): Promise<void> {
  const { transaction } = context;
  refuseDraft(settingConflicts(change, context.database), 1);
  for (const after of settingRows(change, context.owner)) {
    const before = await findRow(transaction, "settings", { name: after.name });
    // A form sends all values back, so an equal value of a file-managed setting is accepted.
    if (before?.value === after.value) continue;
    if (before === undefined) await insertRows(context, settingObject, [after]);
    else {
      refuseFileOwned(before, `setting ${after.name}`);
      await updateRow(context, settingObject, { before, after });
    }
  }
  for (const { path: name } of settingsTable) {
    const reset = settingAt(change, name) === null ? await findRow(transaction, "settings", { name }) : undefined;
    if (reset === undefined) continue;
    refuseFileOwned(reset, `setting ${name}`);
    await removeRows(context, settingObject, [reset]);
  }
}

function settingRows(settings: SettingsChange, owner: ManagedBy): Row<"settings">[] {
  return settingsTable.flatMap(({ path }): Row<"settings">[] => {
    const value = settingAt(settings, path);
    return value == null ? [] : [{ name: path, value: JSON.stringify(value), managed_by: owner }];
  });
}

/** With defaults filled in. */
export async function readSettings(connection: Connection): Promise<Settings> {
  const values = await currentValues(connection);
  return Object.freeze({ ...values, "ledger.export": exportLocation(values["ledger.export"]) }) as Settings;
}

async function currentValues(connection: Connection) {
  const rows = await findRows(connection, "settings", { managed_by: not("system") });
  return { ...settingDefaults, ...settingValues(rows) };
}

function settingValues(rows: readonly Row<"settings">[]): Record<string, unknown> {
  const current = rows.filter((row) => Object.hasOwn(settingDefaults, row.name));
  return Object.fromEntries(current.map((row) => [row.name, JSON.parse(row.value)]));
}

export async function ledgerExportLocation({ kysely }: Database): Promise<LedgerExportPlace | null> {
  return (await readSettings(kysely))["ledger.export"];
}

function exportLocation(setting: LedgerExportConfig | null): LedgerExportPlace | null {
  if (setting === null) return null;
  const { bucket, prefix = "", region = "us-east-1", endpoint = null, format = "jsonl" } = setting;
  return Object.freeze({ bucket, prefix, region, endpoint, formats: [format].flat() });
}

/** With defaults filled in. `managedByFile`: the names that the config file sets. */
export async function currentSettings({ database: { kysely } }: ControlDirectory) {
  const fromFile = await findRows(kysely, "settings", { managed_by: "file" }, "name");
  return {
    settings: settingsConfig(await currentValues(kysely)),
    managedByFile: fromFile.map((row) => row.name),
  };
}

/** Settings in the form of the config file. */
export function settingsOf(rows: readonly Row<"settings">[]): SettingsConfig {
  return settingsConfig(settingValues(rows));
}

function settingsConfig(values: object): SettingsConfig {
  return nestedSettings(Object.entries(values).filter(([, value]) => value !== null));
}
