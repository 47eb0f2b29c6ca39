import { Database as SqliteFile } from "bun:sqlite";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { Kysely } from "kysely";
import type { Database, Flavour } from "./database.ts";
import type { Tables } from "./schema.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";

export interface DatabaseOptions {
  /** The SQLite file, made when it is missing (readable by its owner only); `:memory:` for one that is forgotten. */
  readonly path: string;
  /** How long a statement waits for another connection's write. */
  readonly busyMs?: number;
  /** False where a missing file is an error: a thread of a running process must never begin an empty database. */
  readonly create?: boolean;
}

/** Opens (but does not migrate) the database. Committed means synced to disk. */
export function openDatabase(options: DatabaseOptions): Database {
  if (options.create !== false && options.path !== ":memory:") makeFile(options.path);
  const file = new SqliteFile(options.path, { readwrite: true, create: false });
  const busyMs = Math.round(options.busyMs ?? busyMsDefault);
  // Of a new file alone. Rows of the ledger are long: larger pages are fewer writes.
  file.run("pragma page_size = 8192");
  // Before the others: changing the journal mode itself may have to wait.
  file.run(`pragma busy_timeout = ${busyMs}`);
  file.run("pragma journal_mode = wal");
  file.run("pragma synchronous = full");
  file.run("pragma foreign_keys = on");
  // Without it the write-ahead file stays as long as it was at its longest.
  file.run("pragma journal_size_limit = 67108864");
  // From here on it is the connection that waits, not SQLite: that would stop the whole thread.
  file.run("pragma busy_timeout = 0");
  const kysely = new Kysely<Tables>({ dialect: sqliteDialect(file, busyMs) });
  const inMemory = options.path === ":memory:";
  let reader: Database | null = null;
  return {
    kysely,
    get reading() {
      if (inMemory) return kysely;
      reader ??= openReadOnly(options.path);
      return reader.kysely;
    },
    flavour: sqliteFlavour,
    async close() {
      await reader?.close();
      await kysely.destroy();
    },
  };
}

/** A connection to a database that is there and open elsewhere, which cannot write. */
export function openReadOnly(path: string): Database {
  const file = new SqliteFile(path, { readonly: true });
  file.run(`pragma busy_timeout = ${busyMsDefault}`);
  file.run(`pragma cache_size = -${readCacheKb}`);
  const kysely = new Kysely<Tables>({ dialect: sqliteDialect(file, 0) });
  return { kysely, reading: kysely, flavour: sqliteFlavour, close: () => kysely.destroy() };
}

const busyMsDefault = 5_000;
/** The most it keeps of what it read: enough for the inner pages of every index. */
const readCacheKb = 16_384;

const sqliteFlavour: Flavour = {
  name: "sqlite",
};

/**
 * SQLite gives its side files the mode of the main file, so making that one first covers all. A file that is there must
 * not be opened here, nor anywhere else but by SQLite: POSIX drops every lock that a process has on a file when the
 * process closes any descriptor of it (https://www.sqlite.org/howtocorrupt.html, 2.2), and without its locks the next
 * program that closes the database takes the write-ahead file away from under this process.
 */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}
