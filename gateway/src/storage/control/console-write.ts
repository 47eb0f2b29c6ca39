import { type Conflict, pathText } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { ChangeLog } from "../changes/change-log.ts";
import type { ManagedBy } from "../database/schema.ts";
import type { ControlOptions } from "./config-file/apply-config.ts";
import type { ApplyContext } from "./config-file/apply-context.ts";

/** One write of the console: what it does, its audit rows and its changes, all or nothing. */
export async function consoleWrite<Result>(
  options: ControlOptions,
  auditSource: AuditSource,
  write: (context: ApplyContext) => Promise<Result>,
): Promise<Result> {
  return await options.database.kysely.transaction().execute(async (transaction) => {
    const at = options.clock.now();
    const log = new ChangeLog(auditSource, at);
    const result = await write({ ...options, owner: "console", transaction, log, at });
    await log.write(transaction);
    return result;
  });
}

/** `what` is the object as a person would name it: `provider openai`. */
export function refuseFileOwned(row: { readonly managed_by: ManagedBy | "system" }, what: string): void {
  if (row.managed_by !== "file") return;
  throw new Failure("managed_by_file", `The ${what} comes from the config file. Change it there.`);
}

/** The first conflict as a refusal; `depth` steps of its path lead to the object that was sent. */
export function refuseDraft(conflicts: readonly Conflict[], depth: number): void {
  const [first] = conflicts;
  if (first === undefined) return;
  const param = pathText(first.path.slice(depth));
  throw new Failure("invalid_request", param === "" ? first.message : `\`${param}\`: ${first.message}`, {
    param: param === "" ? null : param,
  });
}
