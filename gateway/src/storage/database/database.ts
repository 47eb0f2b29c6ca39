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

/** What differs between the databases, so that everything else is written once. */
export interface Flavour {
  readonly name: "sqlite" | "postgres";
}

/**
 * An open database. One process may have several. On SQLite each runs one statement at a time, and a transaction that writes has
 * the whole database; on PostgreSQL several write at once, see `takeTurn` and `heldRows`.
 */
export interface Database {
  readonly kysely: Kysely<Tables>;
  /**
   * A connection of its own for what calls wait for: it reads what is committed while a write on the other one waits for
   * another program. Opened when it is first used.
   */
  readonly reading: Kysely<Tables>;
  readonly flavour: Flavour;
  /** On PostgreSQL: a connection outside the pools, for what the server tells by itself. Whoever opens it ends it. */
  readonly openSession?: () => Promise<ServerSession>;
  /** On PostgreSQL: opened by whoever watches the server while it does not answer. */
  readonly breaker?: ServerBreaker;
  /** Waits for the statement that runs. May be called again. */
  close(): Promise<void>;
}

/** One connection to a server that notifies. */
export interface ServerSession {
  run(statement: string): Promise<readonly unknown[]>;
  onNotice: (payload: string) => void;
  /** Once, when the connection is lost. */
  onEnd: () => void;
  readonly isOver: boolean;
  end(): Promise<void>;
}

/** Rows that a transaction reads and then writes by: on PostgreSQL nobody else changes them until it ends. */
export function lockRows<Query extends { forUpdate(): Query }>(
  { flavour }: Pick<Database, "flavour">,
  query: Query,
): Query {
  return flavour.name === "postgres" ? query.forUpdate() : query;
}

/** Either the database or a transaction on it. */
export type Connection = Kysely<Tables> | Transaction<Tables>;

/** Several reads that see one and the same moment. */
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

/**
 * The database's clock, in whole Unix milliseconds: one clock for all processes. On PostgreSQL it goes on within a transaction and
 * within a statement that has waited for a lock.
 */
export function databaseNow({ flavour }: Pick<Database, "flavour">): RawBuilder<number> {
  return flavour.name === "postgres"
    ? sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(round(unixepoch('subsec') * 1000) as integer)`;
}

/** Deletes rows in batches that are short, with a pause between them for others. Resolves to how many went. */
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

/** Also in a trigger of migration 001, so it stays as it is. */
export const writeLock = 5_310_042;

/**
 * For transactions that write by what they have read, and for those whose rows are read in the order of their commits: they
 * happen one after the other, in every process. The first statement of a transaction. SQLite gives a transaction that
 * writes the whole database anyhow.
 */
export async function lockForWrite({ flavour }: Pick<Database, "flavour">, transaction: Connection): Promise<void> {
  if (flavour.name === "sqlite") return;
  await sql`select pg_advisory_xact_lock(${sql.lit(writeLock)})`.execute(transaction);
}

/**
 * A write that a power cut may take back, because nothing is lost with it: a lease, the time of the next poll. It is
 * committed like any other and outlives the process, but is not synced to disk by itself; the next write that is takes
 * it along. Thousands of tasks that are polled would otherwise keep the disk, and with it every call, waiting.
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
