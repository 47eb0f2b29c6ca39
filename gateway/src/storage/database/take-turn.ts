import { sql } from "kysely";
import type { Connection, Database } from "./database.ts";

/** Also in a trigger of migration 001, so it stays as it is. */
export const turnLock = 5_310_042;

/**
 * For transactions that write by what they have read, and for those whose rows are read in the order of their commits: they
 * happen one after the other, in every process. The first statement of a transaction. SQLite gives a transaction that
 * writes the whole database anyhow.
 */
export async function takeTurn({ flavour }: Pick<Database, "flavour">, transaction: Connection): Promise<void> {
  if (flavour.name === "sqlite") return;
  await sql`select pg_advisory_xact_lock(${sql.lit(turnLock)})`.execute(transaction);
}
