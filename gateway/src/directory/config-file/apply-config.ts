import type { ConfigFile } from "@sluice/contract/config-file";
import { conflictsOf } from "@sluice/contract/words";
import { keyConflicts } from "#core/index.ts";
import type { ApplyOptions, ApplyReport, ConfigPlan } from "#ports/index.ts";
import { auditedWrite } from "#storage/tables.ts";
import type { ControlOptions } from "../control-options.ts";
import { kindConflicts } from "../providers/provider-rows.ts";
import { applyModels } from "./apply-models.ts";
import { applyPeople, firstPasswords } from "./apply-people.ts";
import { applyProviders, suspendProviders } from "./apply-providers.ts";
import { applySettings, settingConflicts } from "./apply-settings.ts";
import { applyWorkspaces } from "./apply-workspaces.ts";
import { refuseConflicts } from "./config-conflict.ts";
import { largeRemovals, ownedByFile } from "./large-removals.ts";

/** All or nothing: a conflict, found before or within, leaves everything as it was. */
export async function applyConfig(
  options: ControlOptions,
  config: ConfigFile,
  actor: string,
  { refuseLargeRemovals = false }: ApplyOptions = {},
): Promise<ApplyReport> {
  const { changes } = await write(options, config, actor, (plan) => {
    if (refuseLargeRemovals) refuseConflicts(plan.largeRemovals);
  });
  return changes;
}

/** What `applyConfig` would do. Its transaction is rolled back. */
export async function planConfig(options: ControlOptions, config: ConfigFile, actor: string): Promise<ConfigPlan> {
  let planned: ConfigPlan | null = null;
  try {
    return await write(options, config, actor, (plan) => {
      planned = plan;
      throw rollback;
    });
  } catch (thrown) {
    if (thrown !== rollback || planned === null) throw thrown;
    return planned;
  }
}

const rollback = new Error("A plan is not carried out.");

/** `judge` sees what was done before it is committed, and may throw. */
async function write(
  options: ControlOptions,
  config: ConfigFile,
  actor: string,
  judge: (plan: ConfigPlan) => void,
): Promise<ConfigPlan> {
  const providers = config.providers ?? [];
  refuseConflicts([
    ...conflictsOf(config),
    ...keyConflicts(config),
    ...kindConflicts(providers, options.kindDefaults),
    ...settingConflicts(config.settings ?? {}, options.database),
  ]);
  const passwords = await firstPasswords(options, config.users ?? []);
  return await auditedWrite({ ...options, owner: "file" as const }, { actor, ip: null }, async (context) => {
    const owned = await ownedByFile(context.transaction);
    const vanished = await applyProviders(context, providers);
    await applyModels(context, config.models ?? [], providers);
    await suspendProviders(context, vanished);
    await applyWorkspaces(context, config.workspaces ?? []);
    await applyPeople(context, config, passwords);
    await applySettings(context, config.settings ?? {});
    const changes = context.log.report;
    const plan: ConfigPlan = { changes, largeRemovals: largeRemovals(changes, config, owned) };
    judge(plan);
    return plan;
  });
}
