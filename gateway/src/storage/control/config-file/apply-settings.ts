import type { SettingsConfig } from "@sluice/contract/config-file";
import type { Settings } from "#core/index.ts";
import type { Connection } from "../../database/database.ts";
import { reconcile, updateAction } from "../../database/reconcile.ts";
import type { ManagedBy, Row } from "../../database/schema.ts";
import type { ApplyContext } from "./apply-context.ts";

/** The settings of the installation, each a row; one that is missing has its default. */
export async function applySettings(context: ApplyContext, settings: SettingsConfig): Promise<void> {
  const { transaction, log } = context;
  const existing = await transaction.selectFrom("settings").selectAll().where("managed_by", "!=", "system").execute();
  const { create, update, vanished } = reconcile(existing, settingRows(settings, context.owner), (row) => row.name);
  for (const row of create) {
    await transaction.insertInto("settings").values(row).execute();
    log.record("create", `setting ${row.name}`, null, row);
  }
  for (const { before, after } of update) {
    await transaction.updateTable("settings").set(after).where("name", "=", after.name).execute();
    log.record(updateAction(before), `setting ${after.name}`, before, after);
  }
  for (const row of vanished) {
    await transaction.deleteFrom("settings").where("name", "=", row.name).execute();
    log.record("remove", `setting ${row.name}`, row, null);
  }
  if (create.length + update.length + vanished.length > 0) log.catalogChanged();
}

export interface StoredSettings {
  readonly settings: Settings;
  readonly disconnectDefault: "cancel" | "drain";
}

export async function readSettings(connection: Connection): Promise<StoredSettings> {
  const rows = await connection.selectFrom("settings").selectAll().where("managed_by", "!=", "system").execute();
  const stored = new Map(rows.map((row) => [row.name, row.value]));
  const read = <T>(name: SettingName, otherwise: T): T => {
    const text = stored.get(name);
    return text === undefined ? otherwise : JSON.parse(text);
  };
  return {
    settings: Object.freeze({
      logBodies: "none",
      ledgerDurability: read<Settings["ledgerDurability"]>("ledger.durability", "disk"),
      ledgerRetentionDays: read("ledger.retention_days", 400),
      explanationRetentionDays: read("explanations.retention_days", 30),
      captureRetentionDays: read("captures.retention_days", 7),
      drainTimeoutMs: read("drain_timeout_ms", 120_000),
      retrySent: read("retry_sent", false),
      videoCopyResults: read("video.copy_results", false),
    }),
    disconnectDefault: read<StoredSettings["disconnectDefault"]>("disconnect.default", "cancel"),
  };
}

type SettingName =
  | "log_bodies"
  | "ledger.durability"
  | "ledger.retention_days"
  | "explanations.retention_days"
  | "captures.retention_days"
  | "disconnect.default"
  | "drain_timeout_ms"
  | "retry_sent"
  | "video.copy_results";

/** A row for each setting that is said. */
export function settingRows(settings: SettingsConfig, owner: ManagedBy): Row<"settings">[] {
  const values: Readonly<Record<SettingName, string | number | boolean | undefined>> = {
    log_bodies: settings.log_bodies,
    "ledger.durability": settings.ledger?.durability,
    "ledger.retention_days": settings.ledger?.retention_days,
    "explanations.retention_days": settings.explanations?.retention_days,
    "captures.retention_days": settings.captures?.retention_days,
    "disconnect.default": settings.disconnect?.default,
    drain_timeout_ms: settings.drain_timeout_ms,
    retry_sent: settings.retry_sent,
    "video.copy_results": settings.video?.copy_results,
  };
  return Object.entries(values).flatMap(([name, value]): Row<"settings">[] =>
    value === undefined ? [] : [{ name, value: JSON.stringify(value), managed_by: owner }],
  );
}
