import type { ConfigFile } from "@sluice/contract/config-file";
import { conflictsOf } from "@sluice/contract/words";
import type { ApplyReport, Clock, Ids, Vault } from "#ports/index.ts";
import { ChangeLog } from "../../changes/change-log.ts";
import type { Database } from "../../database/database.ts";
import type { ApplyContext, KindDefaults } from "./apply-context.ts";
import { applyModels } from "./apply-models.ts";
import { applyProviders, kindConflicts, removeProviders } from "./apply-providers.ts";
import { applySettings } from "./apply-settings.ts";
import { applyWorkspaces } from "./apply-workspaces.ts";
import { refuseConflicts } from "./config-conflict.ts";

/** What the writing side of the control store stands on. */
export interface ControlOptions {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly kindDefaults: KindDefaults;
}

/** All or nothing: a conflict, found before or within, leaves everything as it was. */
export async function applyConfig(options: ControlOptions, config: ConfigFile, actor: string): Promise<ApplyReport> {
  const providers = config.providers ?? [];
  refuseConflicts([...conflictsOf(config), ...kindConflicts(providers, options.kindDefaults)]);
  return await options.database.kysely.transaction().execute(async (transaction) => {
    const at = options.clock.now();
    const log = new ChangeLog(actor, at);
    const context: ApplyContext = { ...options, owner: "file", transaction, log, at };
    const vanished = await applyProviders(context, providers);
    await applyModels(context, config.models ?? [], providers);
    await removeProviders(context, vanished);
    await applyWorkspaces(context, config.workspaces ?? []);
    await applySettings(context, config.settings ?? {});
    return await log.write(transaction);
  });
}
