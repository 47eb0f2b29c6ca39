import type { SettingsChange, SettingsConfig } from "@sluice/contract/config-file";
import type { AuditSource, ConfigStore } from "#ports/index.ts";
import { auditedWrite, type Connection, insertRows, removeRows, updateRow } from "#storage/tables.ts";
import type { ControlOptions } from "../control-options.ts";
import { refuseDraft, refuseFileOwned } from "../refusals.ts";
import { readSettings, settingConflicts, settingObject, settingRows } from "./apply-settings.ts";

type SettingWrites = Pick<ConfigStore, "settings" | "updateSettings">;

export function settingWrites(options: ControlOptions): SettingWrites {
  return {
    settings: () => settingsInForce(options.database.kysely),
    updateSettings: (change, auditSource) => updateSettings(options, change, auditSource),
  };
}

async function settingsInForce(connection: Connection) {
  const { settings, disconnectDefault, ledgerExport } = await readSettings(connection);
  const fromFile = await connection
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

async function updateSettings(
  options: ControlOptions,
  change: SettingsChange,
  auditSource: AuditSource,
): Promise<void> {
  refuseDraft(settingConflicts(change, options.database), 1);
  await auditedWrite({ ...options, owner: "console" as const }, auditSource, async (under) => {
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
