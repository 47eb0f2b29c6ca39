import type { ConfigFile } from "@sluice/contract/config-file";
import { conflictsOf } from "@sluice/contract/words";
import { keyConflicts } from "#core/index.ts";
import type { ApplyReport } from "#ports/index.ts";
import { auditedWrite } from "../../changes/audited-write.ts";
import type { ControlOptions } from "../control-options.ts";
import { kindConflicts } from "../providers/provider-rows.ts";
import { applyModels } from "./apply-models.ts";
import { applyPeople, firstPasswords } from "./apply-people.ts";
import { applyProviders, removeProviders } from "./apply-providers.ts";
import { applySettings, settingConflicts } from "./apply-settings.ts";
import { applyWorkspaces } from "./apply-workspaces.ts";
import { refuseConflicts } from "./config-conflict.ts";

/** All or nothing: a conflict, found before or within, leaves everything as it was. */
export async function applyConfig(options: ControlOptions, config: ConfigFile, actor: string): Promise<ApplyReport> {
  const providers = config.providers ?? [];
  refuseConflicts([
    ...conflictsOf(config),
    ...keyConflicts(config),
    ...kindConflicts(providers, options.kindDefaults),
    ...settingConflicts(config.settings ?? {}, options.database),
  ]);
  const passwords = await firstPasswords(options, config.users ?? []);
  return await auditedWrite({ ...options, owner: "file" as const }, { actor, ip: null }, async (context) => {
    const vanished = await applyProviders(context, providers);
    await applyModels(context, config.models ?? [], providers);
    await removeProviders(context, vanished);
    await applyWorkspaces(context, config.workspaces ?? []);
    await applyPeople(context, config, passwords);
    await applySettings(context, config.settings ?? {});
    return context.log.report;
  });
}
