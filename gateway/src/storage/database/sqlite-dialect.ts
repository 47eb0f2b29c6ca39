import type { SQLQueryBindings, Database as SqliteFile, Statement } from "bun:sqlite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
  type TransactionSettings,
} from "kysely";
import { BoundedMap, Failure } from "#core/index.ts";
import { hasCode } from "../disk/files.ts";
import type { Connection } from "./database.ts";

/** Kysely on Bun's SQLite. Caches prepared statements; writing transactions take the lock at the start. */
export function sqliteDialect(file: SqliteFile, busyMs: number): Dialect {
  return {
    createDriver: () => new Driver(file, busyMs),
    createAdapter: () => new Adapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  };
}

const statementsMax = 256;
/** Schema changes and checks run once, and their programs are large: not cached. */
const runsOnce = /^\s*(?:create|alter|drop|pragma)\s/i;

class Adapter extends SqliteAdapter {
  // SQLite rolls back CREATE TABLE, so a failed migration leaves nothing.
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class Driver extends SqliteDriver {
  readonly #file: SqliteFile;
  readonly #busyMs: number;

  constructor(file: SqliteFile, busyMs: number) {
    super({ database: new StatementCache(file) });
    this.#file = file;
    this.#busyMs = busyMs;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return new RetryingConnection(await super.acquireConnection(), this.#busyMs);
  }

  // A deferred transaction that reads and then writes fails at once if another connection wrote in between (SQLITE_BUSY_SNAPSHOT, which
  // busy_timeout does not cover). Taking the lock first waits instead.
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    const begin = settings?.accessMode === "read only" ? "begin" : "begin immediate";
    await connection.executeQuery(CompiledQuery.raw(begin));
  }

  // Failures of the file end the transaction; keep the original error.
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#file.inTransaction) await super.rollbackTransaction(connection);
  }
}

class StatementCache implements SqliteDatabase {
  readonly #file: SqliteFile;
  readonly #statements = new BoundedMap<string, BoundStatement>(statementsMax, {
    onLeave: (statement) => statement.finalize(),
  });

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  prepare(sql: string): SqliteStatement {
    if (runsOnce.test(sql)) return oneTimeStatement(this.#file, sql);
    const prepared = this.#statements.get(sql);
    if (prepared !== undefined) return prepared;
    const statement = new BoundStatement(this.#file.prepare(sql));
    this.#statements.set(sql, statement);
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.#file.close();
  }
}

/** Prepared for each run, because a pragma takes effect when it is prepared. */
function oneTimeStatement(file: SqliteFile, sql: string): SqliteStatement {
  const all = (parameters: readonly unknown[]): unknown[] => {
    const statement = new BoundStatement(file.prepare(sql));
    try {
      return statement.all(parameters);
    } finally {
      statement.finalize();
    }
  };
  const run = (parameters: readonly unknown[]) => ({ changes: all(parameters).length, lastInsertRowid: 0 });
  return { reader: true, all, run, iterate: (parameters) => all(parameters).values() };
}

class BoundStatement implements SqliteStatement {
  readonly reader: boolean;
  readonly #statement: Statement<unknown, SQLQueryBindings[]>;

  constructor(statement: Statement<unknown, SQLQueryBindings[]>) {
    this.#statement = statement;
    this.reader = statement.columnNames.length > 0;
  }

  all(parameters: readonly unknown[]): unknown[] {
    const each = RowBatch.in(parameters);
    if (each !== null) return Array.from(each.rows, (row) => this.all(row)).flat();
    return this.#statement.all(...(parameters as readonly SQLQueryBindings[]));
  }

  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    const each = RowBatch.in(parameters);
    if (each === null) return this.#statement.run(...(parameters as readonly SQLQueryBindings[]));
    let changes = 0;
    for (const row of each.rows) {
      const run = this.#statement.run(...(row as readonly SQLQueryBindings[]));
      each.changed.push(run.changes);
      changes += run.changes;
    }
    return { changes, lastInsertRowid: 0 };
  }

  iterate(parameters: readonly unknown[]): IterableIterator<unknown> {
    return this.#statement.iterate(...(parameters as readonly SQLQueryBindings[]));
  }

  finalize(): void {
    this.#statement.finalize();
  }
}

/**
 * Waits for another program's write without blocking the event loop, as SQLite's `busy_timeout` would. Retrying is safe: a busy statement
 * has changed nothing, and a transaction holds the lock.
 */
class RetryingConnection implements DatabaseConnection {
  readonly #inner: DatabaseConnection;
  readonly #busyMs: number;

  constructor(inner: DatabaseConnection, busyMs: number) {
    this.#inner = inner;
    this.#busyMs = busyMs;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    let waitMs = firstWaitMs;
    for (let leftMs = this.#busyMs; ; leftMs -= waitMs, waitMs = Math.min(waitMs * 2, waitMsMax)) {
      try {
        return await this.#inner.executeQuery<Row>(query);
      } catch (thrown) {
        if (!isBusy(thrown)) throw thrown;
        if (leftMs <= 0) throw lockTimeout(this.#busyMs, thrown);
      }
      await Bun.sleep(Math.min(waitMs, leftMs));
    }
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.#inner.streamQuery<Row>(query, chunkSize);
  }
}

const firstWaitMs = 1;
const waitMsMax = 25;

function lockTimeout(busyMs: number, cause: unknown): Failure {
  const message = `The database is locked by another program for more than ${busyMs / 1_000} s. Try again.`;
  return new Failure("storage_unavailable", message, { cause, retryAfterMs: busyMs });
}

function isBusy(thrown: unknown): boolean {
  return hasCode(thrown, /^SQLITE_BUSY(_RECOVERY)?$/);
}

/** SQLite: parameters of a statement that runs once per row. The only parameter of its query. */
class RowBatch {
  readonly rows: Iterable<readonly unknown[]>;
  /** Rows changed by each run. */
  readonly changed: number[] = [];

  constructor(rows: Iterable<readonly unknown[]>) {
    this.rows = rows;
  }

  /** null: ordinary parameters. */
  static in([only]: readonly unknown[]): RowBatch | null {
    return only instanceof RowBatch ? only : null;
  }
}

/** SQLite: runs one prepared statement for each of these parameters, within a transaction. */
export async function runEach<Result>(
  connection: Connection,
  query: CompiledQuery<Result>,
  parameters: Iterable<readonly unknown[]>,
): Promise<{ readonly rows: readonly Result[]; readonly changed: readonly number[] }> {
  const each = new RowBatch(parameters);
  const { rows } = await connection.executeQuery<Result>({ ...query, parameters: [each] });
  return { rows, changed: each.changed };
}
