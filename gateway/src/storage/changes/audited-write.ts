import type { Transaction } from "kysely";
import type { AuditSource, Clock } from "#ports/index.ts";
import { type Database, takeTurn } from "../database/database.ts";
import type { Tables } from "../database/schema.ts";
import { ChangeLog } from "./change-log.ts";

export interface AuditedWriteOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** A row of `settings`. Writes that name the same one happen one after the other, in every process. */
  readonly lock?: string;
}

/** A write under way: its transaction, its moment (Unix milliseconds), and what it has done so far. */
export interface AuditedWrite {
  readonly transaction: Transaction<Tables>;
  readonly log: ChangeLog;
  readonly at: number;
}

/**
 * One write with its audit rows and its change notices, all or nothing. Everything that people or the config file change
 * goes through here. What `write` throws undoes all of it.
 */
export async function auditedWrite<Options extends AuditedWriteOptions, Result>(
  options: Options,
  auditSource: AuditSource,
  write: (under: Options & AuditedWrite) => Promise<Result>,
): Promise<Result> {
  return await options.database.kysely.transaction().execute(async (transaction) => {
    await takeTurn(options.database, transaction);
    if (options.lock !== undefined) {
      await transaction.updateTable("settings").set({ value: "" }).where("name", "=", options.lock).execute();
    }
    const at = options.clock.now();
    const log = new ChangeLog(auditSource, at);
    const result = await write({ ...options, transaction, log, at });
    await log.write(transaction);
    return result;
  });
}
