import type { ConfigFile } from "@sluice/contract/config-file";
import { conflictsOf } from "@sluice/contract/words";
import type { Transaction } from "kysely";
import type { ApplyReport } from "#ports/index.ts";
import { auditedWrite, type Tables } from "#storage/tables.ts";
import type { ControlOptions } from "../control-options.ts";
import { kindConflicts } from "../providers/provider-rows.ts";
import { applyModels } from "./apply-models.ts";
import { applyProviders } from "./apply-providers.ts";
import { refuseConflicts } from "./config-conflict.ts";

/**
 * Gives an installation that has no providers and no models its first ones. They belong to the console, so that a
 * config file that comes later does not take them away. Where `actor` alone has ever made any, and all that it made is
 * the demo, what is missing is added. Else nothing is done.
 */
export async function seedConfig(options: ControlOptions, config: ConfigFile, actor: string): Promise<ApplyReport> {
  const providers = config.providers ?? [];
  const models = config.models ?? [];
  refuseConflicts([...conflictsOf({ providers, models }), ...kindConflicts(providers, options.kindDefaults)]);
  return await auditedWrite({ ...options, owner: "console" as const }, { actor, ip: null }, async (context) => {
    if (!(await isUntouched(context.transaction, actor))) return [];
    await applyProviders(context, providers);
    await applyModels(context, models, providers);
    return context.log.report;
  });
}

async function isUntouched(transaction: Transaction<Tables>, actor: string): Promise<boolean> {
  const other = await transaction.selectFrom("providers").select("id").where("kind", "!=", "demo").executeTakeFirst();
  if (other !== undefined) return false;
  const provider = await transaction.selectFrom("providers").select("id").executeTakeFirst();
  const model = await transaction.selectFrom("models").select("name").executeTakeFirst();
  if (provider === undefined) return model === undefined;
  const touched = await transaction
    .selectFrom("audit_log")
    .select("seq")
    .where("actor", "!=", actor)
    .where((where) => where.or([where("object", "like", "provider %"), where("object", "like", "model %")]))
    .limit(1)
    .executeTakeFirst();
  return touched === undefined;
}
