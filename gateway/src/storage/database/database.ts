import type { Kysely, Transaction } from "kysely";
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
export function heldRows<Query extends { forUpdate(): Query }>(
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

/** Waits for the statement that runs, then closes. A second call does nothing. */
export async function closeDatabase(database: Database): Promise<void> {
  await database.close();
}
