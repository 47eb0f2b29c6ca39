import { statSync } from "node:fs";
import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { type DatabasePlace, openPlace, placeLabel } from "../database/database-place.ts";
import { SchemaTooNew, schemaState } from "../database/migrate.ts";
import { openReadOnly } from "../database/open-database.ts";
import { postgresJson, postgresValue } from "../database/postgres/postgres-values.ts";
import { type DataPaths, DataUnusable } from "../disk/data-directory.ts";
import { lockDirectory } from "../disk/journal-owner.ts";
import { monthMaker } from "../ledger/ledger-months.ts";
import { beginMove, endMove, markMoved, refuseMovedElsewhere, refuseOtherTables } from "../upkeep/moved-mark.ts";
import { upgradePostgres } from "../upkeep/upgrade-database.ts";
import { hasVault, openVaultOf } from "../vault/vault.ts";

interface MoveOptions {
  /** The data directory of the embedded installation, with no gateway running. Only gets a mark that it has moved. */
  readonly from: DataPaths;
  readonly to: Extract<DatabasePlace, { readonly kind: "postgres" }>;
  /** As in VaultOptions. */
  readonly masterKey: string | null;
  /** Recovers the source's journal into the new database. Resolves to the number of entries. */
  readonly recoverJournal: (target: Database) => Promise<number>;
  /** Unix milliseconds. */
  readonly now: number;
  readonly onTable?: (name: string, rows: number) => void;
}

interface Moved {
  readonly tables: number;
  readonly rows: number;
  /** Entries that were only in the journal. */
  readonly recovered: number;
  /** The data directory was marked as moved, so that no gateway starts on it. */
  readonly marked: boolean;
}

/**
 * Moves an embedded installation into an empty PostgreSQL database and compares both. Can be repeated after an interruption; no gateway
 * starts on a partial copy. Throws DataUnusable.
 */
export async function moveToPostgres(options: MoveOptions): Promise<Moved> {
  const { from } = options;
  if (!((statSync(from.database, { throwIfNoEntry: false })?.size ?? 0) > 0)) {
    throw new DataUnusable(`There is no installation to move in ${from.dataDir}: ${from.database} is missing.`);
  }
  refuseMovedElsewhere(from, placeLabel(options.to));
  const release = statSync(from.journal, { throwIfNoEntry: false }) === undefined ? null : lockDirectory(from.journal);
  try {
    const source = openReadOnly(from.database);
    try {
      await refuseUnfitSource(source, options);
      return await moveFrom(source, options);
    } finally {
      await source.close();
    }
  } finally {
    release?.();
  }
}

async function refuseUnfitSource(source: Database, { from, masterKey }: MoveOptions): Promise<void> {
  const { state, pending, unknown } = await schemaState(source);
  // Data of a later version would not be copied.
  if (state === "newer" || state === "ahead") throw new SchemaTooNew(unknown);
  if (state !== "current") {
    throw new DataUnusable(
      `The database in ${from.dataDir} needs the migrations ${pending.join(", ")} first: ` +
        "start this version on it once, or run `sluice migrate` without SLUICE_DATABASE_URL.",
    );
  }
  if (!(await hasVault(source))) {
    throw new DataUnusable(`There is no installation to move in ${from.dataDir}: no gateway ever started on it.`);
  }
  await openVaultOf(source, { masterKey, dataDir: from.dataDir, mayMakeKey: false });
}

async function moveFrom(source: Database, options: MoveOptions): Promise<Moved> {
  const { to, recoverJournal, onTable } = options;
  const url = to.url.reveal();
  // One connection keeps the session lock throughout.
  const target = await openPlace(to, { poolSize: 1, statementMs: bounds.postgresMigrationMs });
  try {
    await refuseOtherTables(target);
    await upgradePostgres(target, url);
    const tables = await movedTables(source, target);
    await beginMove(
      target,
      tables.map(({ name }) => name),
    );
    let rows = 0;
    for (const table of tables) {
      const copied = await copyTable(source, target, table);
      await setSequence(source, target, table);
      onTable?.(table.name, copied);
      rows += copied;
    }
    const differs = difference(await sumsOf(source, tables), await sumsOf(target, tables));
    if (differs !== null) {
      throw new DataUnusable(`What has come over is not what was there (${differs}). Run it again.`);
    }
    const recovered = await recoverJournal(target);
    await sql`analyze`.execute(target.kysely);
    // Before gateways may start on the target, so that never both can run.
    const marked = markMoved(options.from, { to: placeLabel(to), at: new Date(options.now).toISOString() });
    await endMove(target);
    return { tables: tables.length, rows, recovered, marked };
  } finally {
    await target.close();
  }
}

/** Row counts by table, and rows and money of ledger and rollups by month. */
type Sums = ReadonlyMap<string, string>;

async function sumsOf(database: Database, tables: readonly MovedTable[]): Promise<Sums> {
  const sums = new Map<string, string>();
  for (const { name } of tables) {
    // Without the move's own setting.
    const only = name === "settings" ? sql`where name not like 'move.%'` : sql``;
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)} ${only}`.execute(
      database.kysely,
    );
    sums.set(`rows of ${name}`, String(rows[0]?.count ?? 0));
  }
  for (const [table, moment] of [
    ["ledger", "at"],
    ["usage_rollups", "hour"],
  ] as const) {
    for (const { month, count, money } of await byMonth(database, database.kysely, table, moment)) {
      sums.set(`${table} of ${month}`, `${count} rows, ${money} nano-USD`);
    }
  }
  return sums;
}

/** The first difference as text; null: none. */
function difference(source: Sums, target: Sums): string | null {
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

/** Approximate size of one statement. */
const moveRowsMax = 2_000;
const moveBytes = 4 * 1024 * 1024;

/** A table of the target. `sequence`: a column that the server numbers. */
interface MovedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly sequence: string | null;
  /** Columns that order its rows in the file: the rowid, or the key of a table without one. */
  readonly order: readonly string[];
}

/** Not moved: belongs to the process or the migrations, or is rebuilt (sums of days and hours). */
const notMoved: ReadonlySet<string> = new Set([
  ...["migrations", "migration_lock", "leases", "instances"],
  ...["usage_days", "summed_days", "usage_hours", "summed_hours"],
]);

/** Tables of both databases, in the order of their references. `settings` comes last and completes the move. */
async function movedTables(source: Database, target: Database): Promise<readonly MovedTable[]> {
  const { rows: here } = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`.execute(source.kysely);
  const names = here.map(({ name }) => name).filter((name) => !notMoved.has(name));
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

/** In the order in which rows were created, in bounded batches. Resolves to the number of rows. */
async function copyTable(source: Database, target: Database, table: MovedTable): Promise<number> {
  const makeMonths = table.name === "ledger_entries" ? monthMaker(target) : null;
  const columns = sql.join(table.columns.map(({ name }) => sql.ref(name)));
  let copied = 0;
  let after: SourceRow | null = null;
  let limit = firstRows;
  for (;;) {
    const rows: readonly SourceRow[] = await rowsAfter(source, table, after, limit);
    if (rows.length === 0) return copied;
    await makeMonths?.(rows.map(({ at }) => Number(at)));
    let bytes = 0;
    const values = table.columns.map(({ name, type }) => {
      const column = rows.map((row) => plainValue(row[name], type));
      for (const value of column) bytes += typeof value === "string" ? value.length : 8;
      return sql`${column}::${sql.raw(type)}[]`;
    });
    await sql`insert into ${sql.table(table.name)} (${columns}) select * from unnest(${sql.join(values)})`.execute(
      target.kysely,
    );
    copied += rows.length;
    after = rows.at(-1) ?? null;
    // By the size of the previous rows: a captured request may be a thousand times as long as an entry.
    limit = Math.max(1, Math.min(moveRowsMax, Math.floor((moveBytes * rows.length) / Math.max(1, bytes))));
  }
}

/** Continues the numbering, including deleted rows. */
async function setSequence(source: Database, target: Database, { name, sequence }: MovedTable): Promise<void> {
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

function plainValue(value: unknown, type: string): unknown {
  return typeof value === "string" && type === "jsonb" ? postgresJson(value) : postgresValue(value);
}
