import { sql } from "kysely";
import type { Connection, Database } from "../database/database.ts";
import type { MovedTable } from "./moved-tables.ts";

/** Figures of a database by what they are of: rows of each table, and of the ledger and its rollups rows and money of each month. */
export type Sums = ReadonlyMap<string, string>;

export async function sumsOf(database: Database, tables: readonly MovedTable[]): Promise<Sums> {
  const sums = new Map<string, string>();
  for (const { name } of tables) {
    // What the move itself remembers stands in the settings.
    const only = name === "settings" ? sql`where name not like 'move.%'` : sql``;
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)} ${only}`.execute(
      database.kysely,
    );
    sums.set(`rows of ${name}`, String(rows[0]?.count ?? 0));
  }
  for (const [table, moment] of [
    ["ledger_entries", "at"],
    ["usage_rollups", "hour"],
  ] as const) {
    for (const { month, count, money } of await byMonth(database, database.kysely, table, moment)) {
      sums.set(`${table} of ${month}`, `${count} rows, ${money} nano-USD`);
    }
  }
  return sums;
}

/** What differs, in words; null when nothing does. */
export function difference(source: Sums, target: Sums): string | null {
  for (const name of new Set([...source.keys(), ...target.keys()])) {
    const [here, there] = [source.get(name) ?? "none", target.get(name) ?? "none"];
    if (here !== there) return `${name}: ${here} in the source, ${there} in PostgreSQL`;
  }
  return null;
}

async function byMonth({ flavour }: Database, connection: Connection, table: string, moment: string) {
  const at = sql.ref(moment);
  const month =
    flavour.name === "sqlite"
      ? sql`strftime('%Y-%m', ${at} / 1000, 'unixepoch')`
      : sql`to_char(to_timestamp(${at} / 1000) at time zone 'UTC', 'YYYY-MM')`;
  const { rows } = await sql<{ month: string; count: number; money: string }>`
    select ${month} as month, count(*) as count, cast(sum(cost_nano_usd) as text) as money
    from ${sql.table(table)} group by 1 order by 1`.execute(connection);
  return rows;
}
