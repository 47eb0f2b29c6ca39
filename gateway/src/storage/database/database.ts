import {
  type DeleteQueryBuilder,
  type DeleteResult,
  type Kysely,
  type RawBuilder,
  sql,
  type Transaction,
} from "kysely";
import { bounds } from "#core/index.ts";
import type { ServerBreaker } from "./postgres/server-breaker.ts";
import type { Tables } from "./schema.ts";

/** The kind of database. */
export interface Flavour {
  readonly name: "sqlite" | "postgres";
}

/**
 * An open database. SQLite runs one statement at a time, and a writing transaction locks all of it. PostgreSQL writes concurrently; see
 * `lockForWrite` and `lockRows`.
 */
export interface Database {
  readonly kysely: Kysely<Tables>;
  /** A separate connection for reads that must not wait for writes. Opened on first use. */
  readonly reading: Kysely<Tables>;
  readonly flavour: Flavour;
  /** PostgreSQL: opens a connection outside the pools, for notifications. The caller ends it. */
  readonly openSession?: () => Promise<ServerSession>;
  /** PostgreSQL: opened by the watch while the server does not respond. */
  readonly breaker?: ServerBreaker;
  /** Waits for the statement that runs. May be called again. */
  close(): Promise<void>;
}

/** A connection that receives notifications. */
export interface ServerSession {
  run(statement: string): Promise<readonly unknown[]>;
  onNotice: (payload: string) => void;
  /** Called once when the connection is lost. */
  onEnd: () => void;
  readonly isOver: boolean;
  end(): Promise<void>;
}

/** Locks rows that a transaction reads in order to write them (PostgreSQL). */
export function lockRows<Query extends { forUpdate(): Query }>(
  { flavour }: Pick<Database, "flavour">,
  query: Query,
): Query {
  return flavour.name === "postgres" ? query.forUpdate() : query;
}

/** A database or a transaction. */
export type Connection = Kysely<Tables> | Transaction<Tables>;

/** Reads in one snapshot. */
export async function inSnapshot<Result>(
  database: Pick<Database, "reading">,
  read: (snapshot: Connection) => Promise<Result>,
): Promise<Result> {
  return await database.reading
    .transaction()
    .setAccessMode("read only")
    .setIsolationLevel("repeatable read")
    .execute(read);
}

/** The database's clock in whole Unix milliseconds. On PostgreSQL it advances within transactions and statements. */
export function databaseNow({ flavour }: Pick<Database, "flavour">): RawBuilder<number> {
  return flavour.name === "postgres"
    ? sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`;
}

/** Deletes rows in short batches with pauses. Resolves to the number deleted. */
export async function deleteInBatches(
  { flavour }: Pick<Database, "flavour">,
  remove: (rows: number) => DeleteQueryBuilder<Tables, keyof Tables, DeleteResult>,
): Promise<number> {
  const rows = flavour.name === "sqlite" ? bounds.pruneRows : bounds.pruneRowsPostgres;
  for (let removed = 0; ; await Bun.sleep(bounds.prunePauseMs)) {
    const gone = Number((await remove(rows).executeTakeFirstOrThrow()).numDeletedRows);
    removed += gone;
    if (gone < rows) return removed;
  }
}

/** Also used in a trigger of migration 001, so it must not change. */
export const writeLock = 5_310_042;

/**
 * Serializes transactions across processes, if they write values that depend on rows they read, or if their rows are read in commit order.
 * Must be the first statement. SQLite serializes writers anyway.
 */
export async function lockForWrite({ flavour }: Pick<Database, "flavour">, transaction: Connection): Promise<void> {
  if (flavour.name === "sqlite") return;
  await sql`select pg_advisory_xact_lock(${sql.lit(writeLock)})`.execute(transaction);
}

/**
 * A write that a power cut may undo without harm, such as a lease or poll time. It is committed, but not synced: syncs
 * for thousands of polled tasks would keep the disk busy.
 */
export async function relaxedWrite<Result>(
  database: Database,
  write: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  if (database.flavour.name !== "sqlite") return await write(database.kysely);
  return await database.kysely.connection().execute(async (connection) => {
    await sql`pragma synchronous = normal`.execute(connection);
    try {
      return await write(connection);
    } finally {
      await sql`pragma synchronous = full`.execute(connection);
    }
  });
}
