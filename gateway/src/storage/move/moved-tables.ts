import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import { monthKeeper } from "../ledger/ledger-months.ts";

/** About the rows and bytes of one statement. */
const moveRowsMax = 2_000;
const moveBytes = 4 * 1024 * 1024;

/** A table as it is on the server. Where it has a number that the server gives out, `sequence` is that column. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly sequence: string | null;
  /** What its rows are read in the order of, in the file: the number that SQLite gives rows, or the key of a table that has none. */
  readonly order: readonly string[];
}

/** Of this process and that database alone, or made by the migrations; and sums of days, which the server makes anew. */
const left: ReadonlySet<string> = new Set([
  ...["migrations", "migration_lock", "leases", "instances"],
  ...["usage_days", "summed_days"],
]);

/** Every table that both databases have, each after those that its rows name. `settings` is the last: with it the move is done. */
export async function movedTables(source: Database, target: Database): Promise<readonly MovedTable[]> {
  const { rows: here } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`.execute(source.kysely);
  const names = here.map(({ name }) => name).filter((name) => !left.has(name));
  const { rows: columns } = await sql<{ table: string; name: string; type: string; numbered: number }>`
    select table_name as table, column_name as name, data_type as type,
      coalesce(column_default, '') like 'nextval(%' as numbered
    from information_schema.columns where table_schema = current_schema() order by ordinal_position`.execute(
    target.kysely,
  );
  const { rows: references } = await sql<{ table: string; named: string }>`
    select t.relname as table, n.relname as named from pg_constraint c
    join pg_class t on t.oid = c.conrelid join pg_class n on n.oid = c.confrelid
    where c.contype = 'f' and c.connamespace = to_regnamespace(current_schema())`.execute(target.kysely);
  const ordered: string[] = [];
  const visit = (name: string): void => {
    if (ordered.includes(name) || !names.includes(name)) return;
    for (const { table, named } of references) if (table === name && named !== name) visit(named);
    ordered.push(name);
  };
  for (const name of names.toSorted()) if (name !== "settings") visit(name);
  const tables: MovedTable[] = [];
  for (const name of [...ordered, "settings"]) {
    const own = columns.filter(({ table }) => table === name);
    const sequence = own.find(({ numbered }) => numbered === 1)?.name ?? null;
    tables.push({ name, columns: own, sequence, order: await orderOf(source, name) });
  }
  return tables;
}

async function orderOf({ kysely }: Database, name: string): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select k.name from pragma_table_list as t, pragma_table_info(${name}) as k
    where t.schema = 'main' and t.name = ${name} and t.wr = 1 and k.pk > 0 order by k.pk`.execute(kysely);
  return rows.length === 0 ? ["rowid"] : rows.map((row) => row.name);
}

/** Copies a table in the order in which its rows were made, in batches within bounds. Resolves to how many rows it has. */
export async function copyTable(source: Database, target: Database, table: MovedTable): Promise<number> {
  const months = table.name === "ledger_entries" ? monthKeeper(target) : null;
  const columns = sql.join(table.columns.map(({ name }) => sql.ref(name)));
  let copied = 0;
  let after: SourceRow | null = null;
  let limit = firstRows;
  for (;;) {
    const rows: readonly SourceRow[] = await rowsAfter(source, table, after, limit);
    if (rows.length === 0) return copied;
    if (months !== null) await months.make(rows.map(({ at }) => Number(at)));
    let bytes = 0;
    const values = table.columns.map(({ name, type }) => {
      const column = rows.map((row) => plainValue(row[name]));
      for (const value of column) bytes += typeof value === "string" ? value.length : 8;
      return sql`${column}::${sql.raw(type)}[]`;
    });
    await sql`insert into ${sql.table(table.name)} (${columns}) select * from unnest(${sql.join(values)})`.execute(
      target.kysely,
    );
    copied += rows.length;
    after = rows.at(-1) ?? null;
    // As many as fit, by the size of those before: a captured request may be a thousand times as long as an entry.
    limit = Math.max(1, Math.min(moveRowsMax, Math.floor((moveBytes * rows.length) / Math.max(1, bytes))));
  }
}

/** So that nothing that is numbered from now on gets a number that was given before, also to a row that is gone. */
export async function setSequence(source: Database, target: Database, { name, sequence }: MovedTable): Promise<void> {
  if (sequence === null) return;
  const { rows } = await sql<{ last: number | null }>`
    select max(last) as last from (
      select seq as last from sqlite_sequence where name = ${name}
      union all select max(${sql.ref(sequence)}) from ${sql.table(name)})`.execute(source.kysely);
  const last = rows[0]?.last ?? null;
  if (last === null) return;
  await sql`select setval(pg_get_serial_sequence(${name}, ${sequence}), ${last}::bigint)`.execute(target.kysely);
}

type SourceRow = Readonly<Record<string, unknown>>;

const firstRows = 16;

async function rowsAfter(
  { kysely }: Database,
  { name, columns, order }: MovedTable,
  after: SourceRow | null,
  limit: number,
): Promise<readonly SourceRow[]> {
  const chosen = sql.join(columns.map((column) => sql.ref(column.name)));
  const key = sql.join(order.map((column) => sql.ref(column)));
  const places = sql.join(order.map((column, index) => sql`${sql.ref(column)} as ${sql.ref(`moved_${index}`)}`));
  const last = after === null ? null : sql.join(order.map((_, index) => after[`moved_${index}`]));
  const beyond = last === null ? sql`true` : sql`(${key}) > (${last})`;
  const { rows } = await sql<SourceRow>`
    select ${places}, ${chosen} from ${sql.table(name)} where ${beyond} order by ${key} limit ${limit}
  `.execute(kysely);
  return rows;
}

/** PostgreSQL's text has no place for a zero character. */
function plainValue(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}
