import { type ConfigFile, conflictsOf } from "@sluice/contract";
import type { ApplyReport } from "#ports/index.ts";
import type { ControlOptions } from "./apply-config.ts";
import type { ApplyContext } from "./apply-context.ts";
import { applyModels } from "./apply-models.ts";
import { applyProviders, kindConflicts } from "./apply-providers.ts";
import { ChangeLog } from "./change-log.ts";
import { refuseConflicts } from "./config-conflict.ts";

/**
 * Gives an installation that has no providers and no models its first ones. They belong to the console, so that a
 * config file that comes later does not take them away. Where anything exists nothing is done.
 */
export async function seedConfig(options: ControlOptions, config: ConfigFile, actor: string): Promise<ApplyReport> {
  const providers = config.providers ?? [];
  const models = config.models ?? [];
  refuseConflicts([...conflictsOf({ providers, models }), ...kindConflicts(providers, options.kindDefaults)]);
  return await options.database.kysely.transaction().execute(async (transaction) => {
    const provider = await transaction.selectFrom("providers").select("id").limit(1).executeTakeFirst();
    const model = await transaction.selectFrom("models").select("name").limit(1).executeTakeFirst();
    if (provider !== undefined || model !== undefined) return [];
    const at = options.clock.now();
    const log = new ChangeLog(actor, at);
    const context: ApplyContext = { ...options, owner: "console", transaction, log, at };
    await applyProviders(context, providers);
    await applyModels(context, models, providers);
    return await log.write(transaction);
  });
}
