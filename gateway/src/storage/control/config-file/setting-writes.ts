import type { SettingsConfig } from "@sluice/contract/config-file";
import type { AuditSource, CatalogStore } from "#ports/index.ts";
import type { Connection } from "../../database/database.ts";
import { consoleWrite, refuseFileOwned } from "../console-write.ts";
import type { ControlOptions } from "./apply-config.ts";
import { readSettings, settingRows } from "./apply-settings.ts";

type SettingWrites = Pick<CatalogStore, "settings" | "updateSettings">;

export function settingWrites(options: ControlOptions): SettingWrites {
  return {
    settings: () => settingsInForce(options.database.kysely),
    updateSettings: (change, auditSource) => updateSettings(options, change, auditSource),
  };
}

async function settingsInForce(connection: Connection) {
  const { settings, disconnectDefault } = await readSettings(connection);
  const fromFile = await connection
    .selectFrom("settings")
    .select("name")
    .where("managed_by", "=", "file")
    .orderBy("name")
    .execute();
  const config: SettingsConfig = {
    log_bodies: settings.logBodies,
    ledger: { durability: settings.ledgerDurability, retention_days: settings.ledgerRetentionDays },
    explanations: { retention_days: settings.explanationRetentionDays },
    captures: { retention_days: settings.captureRetentionDays },
    disconnect: { default: disconnectDefault },
    video: { copy_results: settings.videoCopyResults },
    drain_timeout_ms: settings.drainTimeoutMs,
    retry_sent: settings.retrySent,
  };
  return { settings: config, managedByFile: fromFile.map((row) => row.name) };
}

async function updateSettings(
  options: ControlOptions,
  change: SettingsConfig,
  auditSource: AuditSource,
): Promise<void> {
  await consoleWrite(options, auditSource, async ({ transaction, log, owner }) => {
    for (const after of settingRows(change, owner)) {
      const before = await transaction
        .selectFrom("settings")
        .selectAll()
        .where("name", "=", after.name)
        .executeTakeFirst();
      // A form sends back what it was shown: the same value is no change, whoever owns it.
      if (before?.value === after.value) continue;
      if (before === undefined) {
        await transaction.insertInto("settings").values(after).execute();
        log.record("create", `setting ${after.name}`, null, after);
      } else {
        refuseFileOwned(before, `setting ${after.name}`);
        await transaction.updateTable("settings").set(after).where("name", "=", after.name).execute();
        log.record("update", `setting ${after.name}`, before, after);
      }
      log.catalogChanged();
    }
  });
}
