import { Database as SqliteFile } from "bun:sqlite";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { Kysely } from "kysely";
import { ignoreExisting } from "../disk/files.ts";
import type { Database, Flavour } from "./database.ts";
import type { Tables } from "./schema.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";

export interface DatabaseOptions {
  /** The SQLite file, created if missing (readable by its owner only), or `:memory:`. */
  readonly path: string;
  /** How long a statement waits for another connection's write. */
  readonly busyMs?: number;
  /** False: a missing file is an error, so that threads never create an empty database. */
  readonly create?: boolean;
}

/** Opens the database without migrating it. Commits are synced to disk. */
export function openDatabase(options: DatabaseOptions): Database {
  if (options.create !== false && options.path !== ":memory:") makeFile(options.path);
  const file = new SqliteFile(options.path, { readwrite: true, create: false });
  const busyMs = Math.round(options.busyMs ?? busyMsDefault);
  // Applies to new files only. Ledger rows are long, so larger pages mean fewer writes.
  file.run("pragma page_size = 16384");
  // First, because setting the journal mode may have to wait.
  file.run(`pragma busy_timeout = ${busyMs}`);
  file.run("pragma journal_mode = wal");
  file.run("pragma synchronous = full");
  file.run("pragma foreign_keys = on");
  // Otherwise the write-ahead file never shrinks.
  file.run("pragma journal_size_limit = 67108864");
  // From here on the connection waits instead of SQLite, which would block the thread.
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

/** A read-only connection to a database that is open elsewhere. */
export function openReadOnly(path: string): Database {
  const file = new SqliteFile(path, { readonly: true });
  file.run(`pragma busy_timeout = ${busyMsDefault}`);
  file.run(`pragma cache_size = -${readCacheKb}`);
  const kysely = new Kysely<Tables>({ dialect: sqliteDialect(file, 0) });
  return { kysely, reading: kysely, flavour: sqliteFlavour, close: () => kysely.destroy() };
}

const busyMsDefault = 5_000;
/** Enough for the inner pages of every index. */
const readCacheKb = 16_384;

const sqliteFlavour: Flavour = {
  name: "sqlite",
};

/**
 * SQLite gives its side files the mode of the main file, so only that is created here. Never open an existing database file except
 * through SQLite: closing any descriptor drops all POSIX locks of the process (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  ignoreExisting(() => closeSync(openSync(path, "wx", 0o600)));
}
