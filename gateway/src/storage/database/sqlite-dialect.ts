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

/** Kysely on Bun's built-in SQLite. Statements are kept prepared; a transaction that writes takes the lock at once. */
export function sqliteDialect(file: SqliteFile, busyMs: number): Dialect {
  return {
    createDriver: () => new Driver(file, busyMs),
    createAdapter: () => new Adapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  };
}

const statementsMax = 256;
const pragmaSetting = /^pragma \w+ = /;
/** Checks and changes of the schema: they run once, and the program of a check of all pages takes as much as all others. */
const runsOnce = /^\s*(?:create|alter|drop|pragma)\s/i;

class Adapter extends SqliteAdapter {
  // SQLite does roll back CREATE TABLE: a migration that fails leaves nothing behind.
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

  // A deferred transaction that reads first and writes later fails at once when another connection wrote in
  // between (SQLITE_BUSY_SNAPSHOT, which busy_timeout does not wait for). Taking the lock first waits instead.
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    const begin = settings?.accessMode === "read only" ? "begin" : "begin immediate";
    await connection.executeQuery(CompiledQuery.raw(begin));
  }

  // A full disk and other failures of the file end the transaction by themselves; what is to be heard is their cause.
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
    // It takes effect when it is prepared, so a prepared one that is run again would do nothing.
    if (pragmaSetting.test(sql)) return pragmaStatement(() => this.#file.run(sql));
    if (runsOnce.test(sql)) return new OneTimeStatement(this.#file.prepare(sql));
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = new BoundStatement(this.#file.prepare(sql));
    this.#statements.set(sql, statement);
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.#file.close();
  }
}

function pragmaStatement(run: SqliteStatement["run"]): SqliteStatement {
  const all = (): unknown[] => {
    run([]);
    return [];
  };
  return { reader: false, run, all, iterate: () => all().values() };
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
    if (each !== null) return each.rows.flatMap((row) => this.all(row));
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

/** Is let go of as soon as it has run. */
class OneTimeStatement extends BoundStatement {
  override all(parameters: readonly unknown[]): unknown[] {
    try {
      return super.all(parameters);
    } finally {
      this.finalize();
    }
  }

  override run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    try {
      return super.run(parameters);
    } finally {
      this.finalize();
    }
  }
}

/**
 * A connection that waits for another program's write without holding up the event loop. SQLite's own `busy_timeout`
 * sleeps in the calling thread, and with it everybody's calls. A statement that is told "busy" has done nothing, and
 * within a transaction nobody else has the lock, so it can be made again.
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

/** SQLite: the parameters of a statement that is run once for each of many rows. It is the only parameter of its query. */
class RowBatch {
  readonly rows: readonly (readonly unknown[])[];
  /** How many rows of the table each run of the statement changed. */
  readonly changed: number[] = [];

  constructor(rows: readonly (readonly unknown[])[]) {
    this.rows = rows;
  }

  /** What stands in a statement's parameters; null: they are those of one run. */
  static in([only]: readonly unknown[]): RowBatch | null {
    return only instanceof RowBatch ? only : null;
  }
}

/** One statement of SQLite, prepared once and run for each of these parameters, within a transaction. */
export async function runEach<Result>(
  connection: Connection,
  query: CompiledQuery<Result>,
  parameters: readonly (readonly unknown[])[],
): Promise<{ readonly rows: readonly Result[]; readonly changed: readonly number[] }> {
  const each = new RowBatch(parameters);
  const { rows } = await connection.executeQuery<Result>({ ...query, parameters: [each] });
  return { rows, changed: each.changed };
}
