import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";

/**
 * The database's clock, in whole Unix milliseconds: one clock for all processes. On PostgreSQL it goes on within a transaction and
 * within a statement that has waited for a lock.
 */
export function databaseNow({ flavour }: Pick<Database, "flavour">): RawBuilder<number> {
  return flavour.name === "postgres"
    ? sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`;
}
