import type { Transaction } from "kysely";
import type { AuditSource, Clock, Ids } from "#ports/index.ts";
import { ChangeLog } from "../changes/change-log.ts";
import type { Database } from "../database/database.ts";
import { peopleLock } from "../database/people-tables.ts";
import type { Tables } from "../database/schema.ts";

export interface PeopleOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** A transaction about people under way, with the audit log that is written at its end. */
export interface PeopleWrite {
  readonly transaction: Transaction<Tables>;
  readonly log: ChangeLog;
  readonly at: number;
}

/**
 * One write about people with its audit rows. They happen one after the other, in every process: whether somebody is the last
 * owner or the last administrator is a question about other rows, which two writes at once would both answer with no.
 */
export async function writePeople<Result>(
  options: PeopleOptions,
  auditSource: AuditSource,
  write: (under: PeopleWrite) => Promise<Result>,
): Promise<Result> {
  const at = options.clock.now();
  return await options.database.kysely.transaction().execute(async (transaction) => {
    await transaction.updateTable("settings").set({ value: "" }).where("name", "=", peopleLock).execute();
    const log = new ChangeLog(auditSource, at);
    const result = await write({ transaction, log, at });
    await log.write(transaction);
    return result;
  });
}
