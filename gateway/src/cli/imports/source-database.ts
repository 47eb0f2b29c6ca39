import { Database as SqliteFile } from "bun:sqlite";
import { existsSync } from "node:fs";
import { SQL } from "bun";
import type { Loose } from "#importers/index.ts";
import { CommandFailed } from "../terminal.ts";

/** Of one table: an installation with more needs its own plan. */
const rowsMax = 200_000;

/** All rows of a table; none if it is missing. */
type ReadTable = (name: string) => Promise<readonly Loose[]>;

/** All rows of these tables, by name; none without a database. `prefix` precedes the names in the database. Throws CommandFailed. */
export async function readTables<Name extends string>(
  place: string | undefined,
  names: readonly Name[],
  prefix = "",
): Promise<Readonly<Record<Name, readonly Loose[]>>> {
  const tables = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, readonly Loose[]>;
  if (place === undefined) return tables;
  return await withSourceDatabase(place, async (readTable) => {
    for (const name of names) tables[name] = await readTable(`${prefix}${name}`);
    return tables;
  });
}

/**
 * Opens PostgreSQL (`postgres://`), MySQL (`mysql://`) or a SQLite file in one read-only transaction. Throws CommandFailed, without the
 * password of the address.
 */
async function withSourceDatabase<T>(place: string, read: (readTable: ReadTable) => Promise<T>): Promise<T> {
  const protocol = /^([a-z][a-z0-9+]*):\/\//i.exec(place)?.[1]?.toLowerCase();
  if (protocol === undefined) return await withSqlite(place, read);
  if (!/^(?:postgres(?:ql)?|mysql2?|mariadb)$/.test(protocol)) {
    throw new CommandFailed("--database must be a postgres:// or mysql:// address, or a SQLite file");
  }
  const sql = new SQL(place, { max: 1, connectionTimeout: 15 });
  try {
    return await sql.begin("read only", async (transaction) => {
      const names = await transaction.unsafe(
        protocol.startsWith("postgres")
          ? "select table_name as name from information_schema.tables where table_schema = any (current_schemas(false))"
          : "select table_name as name from information_schema.tables where table_schema = database()",
      );
      const tables = new Set((names as { name: string }[]).map(({ name }) => name));
      const quote = protocol.startsWith("postgres") ? '"' : "`";
      return await read(async (name) =>
        tables.has(name) ? bounded(name, await transaction.unsafe(selectOf(name, quote))) : [],
      );
    });
  } catch (thrown) {
    throw thrown instanceof CommandFailed
      ? thrown
      : new CommandFailed(`cannot read the database: ${wordsOf(thrown, place)}`);
  } finally {
    await sql.close({ timeout: 0 }).catch(() => undefined);
  }
}

async function withSqlite<T>(path: string, read: (readTable: ReadTable) => Promise<T>): Promise<T> {
  if (!existsSync(path)) throw new CommandFailed(`file ${path} not found`);
  let file: SqliteFile | null = null;
  try {
    file = new SqliteFile(path, { readonly: true });
    const opened = file;
    const names = opened.query("select name from sqlite_master where type = 'table'").all() as { name: string }[];
    const tables = new Set(names.map(({ name }) => name));
    return await read(async (name) => (tables.has(name) ? bounded(name, opened.query(selectOf(name, '"')).all()) : []));
  } catch (thrown) {
    throw thrown instanceof CommandFailed ? thrown : new CommandFailed(`cannot read ${path}: ${wordsOf(thrown, path)}`);
  } finally {
    file?.close();
  }
}

/** The names of tables are ours. */
function selectOf(table: string, quote: string): string {
  return `select * from ${quote}${table}${quote} limit ${rowsMax + 1}`;
}

function bounded(table: string, rows: unknown): readonly Loose[] {
  const all = [...(rows as Loose[])];
  if (all.length > rowsMax) throw new CommandFailed(`the table ${table} has more than ${rowsMax} rows`);
  return all;
}

/** Messages of drivers may repeat the address. */
function wordsOf(thrown: unknown, place: string): string {
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  const password = URL.parse(place)?.password ?? "";
  const shown = words.replaceAll(place, "the address");
  return password === "" ? shown : shown.replaceAll(decodeURIComponent(password), "…").replaceAll(password, "…");
}
