import { statSync } from "node:fs";
import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import { type Connection, closeDatabase, type Database } from "../database/database.ts";
import { type DatabasePlace, openPlace, shownPlace } from "../database/database-place.ts";
import { SchemaTooNew, schemaState } from "../database/migrate.ts";
import { openReadOnly } from "../database/open-database.ts";
import { type DataPaths, DataUnusable } from "../disk/data-directory.ts";
import { lockDirectory } from "../disk/journal-owner.ts";
import { beginMove, endMove, markMoved, refuseMovedElsewhere, refuseOtherTables } from "../upkeep/moved-mark.ts";
import { upgradePostgres } from "../upkeep/upgrade-postgres.ts";
import { hasVault, openVaultOf } from "../vault/vault.ts";
import { copyTable, type MovedTable, movedTables, setSequence } from "./moved-tables.ts";

export interface MoveOptions {
  /** The data directory of the embedded installation, which no gateway runs on. Only a mark that it has moved is left in it. */
  readonly from: DataPaths;
  readonly to: Extract<DatabasePlace, { readonly kind: "postgres" }>;
  /** As in VaultOptions. */
  readonly masterKey: string | null;
  /** Puts what is left in the source's journal into the ledger of the new database. Resolves to how many entries that were. */
  readonly recoverJournal: (target: Database) => Promise<number>;
  /** Unix milliseconds. */
  readonly now: number;
  readonly onTable?: (name: string, rows: number) => void;
}

export interface Moved {
  readonly tables: number;
  readonly rows: number;
  /** Entries of the ledger that were in the journal only. */
  readonly recovered: number;
  /** Whether the folder says that its database has moved, so that nobody starts on it by mistake. */
  readonly marked: boolean;
}

/**
 * Moves an embedded installation into an empty database on a PostgreSQL server, and compares both. Broken off anywhere it can be run
 * again, and begins anew; no gateway starts on what is half there. Throws DataUnusable in one line when it cannot be done.
 */
export async function moveOver(options: MoveOptions): Promise<Moved> {
  const { from } = options;
  if (!((statSync(from.database, { throwIfNoEntry: false })?.size ?? 0) > 0)) {
    throw new DataUnusable(`There is no installation to move in ${from.dataDir}: ${from.database} is missing.`);
  }
  refuseMovedElsewhere(from, shownPlace(options.to));
  const release = statSync(from.journal, { throwIfNoEntry: false }) === undefined ? null : lockDirectory(from.journal);
  try {
    const source = openReadOnly(from.database);
    try {
      await refuseUnfitSource(source, options);
      return await moveFrom(source, options);
    } finally {
      await closeDatabase(source);
    }
  } finally {
    release?.();
  }
}

async function refuseUnfitSource(source: Database, { from, masterKey }: MoveOptions): Promise<void> {
  const { state, pending, unknown } = await schemaState(source);
  // What a later version has added would stay behind.
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
  // One connection: what it holds for itself alone, it holds through all of it.
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
    // Before the other may start: at no moment would both.
    const marked = markMoved(options.from, { to: shownPlace(to), at: new Date(options.now).toISOString() });
    await endMove(target);
    return { tables: tables.length, rows, recovered, marked };
  } finally {
    await closeDatabase(target);
  }
}

/** Figures of a database by what they are of: rows of each table, and of the ledger and its rollups rows and money of each month. */
type Sums = ReadonlyMap<string, string>;

async function sumsOf(database: Database, tables: readonly MovedTable[]): Promise<Sums> {
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
