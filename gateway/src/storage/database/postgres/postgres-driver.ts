import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SelectQueryNode,
  type TransactionSettings,
} from "kysely";
import type { PgResult, Pool, PoolClient } from "pg";
import { bounds } from "#core/index.ts";
import { endsConnection, statementProblem, unavailable, unreachable, wasCut } from "./postgres-problems.ts";
import { postgresValue } from "./postgres-values.ts";
import type { ServerBreaker } from "./server-breaker.ts";

/** After the server's own statement timeout has passed, the connection is cut. */
const postgresSilenceMs = 5_000;
/** How long closing waits for running statements, then for connections. */
const postgresEndMs = 4_000;
const postgresCutMs = 500;

/** A statement that each connection prepares once under this name. */
export interface NamedQuery<Result> extends CompiledQuery<Result> {
  readonly name: string;
}

/**
 * Kysely on a `pg` pool. Broken connections are closed, never reused. Reads outside transactions, and the beginning of a transaction, are
 * retried on another connection if the server goes away, as in a failover. A commit counts only if the server confirms it. While the
 * breaker is open, statements fail at once.
 */
export class PostgresDriver implements Driver {
  readonly #open: () => Promise<Pool>;
  readonly #statementMs: number;
  readonly #breaker: ServerBreaker;
  readonly #connections = new Set<PostgresConnection>();
  #pool: Pool | null = null;
  #stopListening = (): void => undefined;

  constructor(open: () => Promise<Pool>, statementMs: number, breaker: ServerBreaker) {
    this.#open = open;
    this.#statementMs = statementMs;
    this.#breaker = breaker;
  }

  async init(): Promise<void> {
    this.#pool = await this.#open();
    // An idle connection broke; the pool has dropped it.
    this.#pool.on("error", () => undefined);
    this.#stopListening = this.#breaker.onOpen(() => this.#cutAll());
  }

  async acquireConnection(): Promise<PostgresConnection> {
    let client: PoolClient | null;
    try {
      client = await this.#client();
    } catch (thrown) {
      throw unavailable("The database cannot be reached.", thrown);
    }
    if (client === null) throw unavailable("The database is closed.", undefined);
    const connection = new PostgresConnection(client, this.#statementMs, this.#breaker, () => this.#client());
    this.#connections.add(connection);
    return connection;
  }

  /** null: the pool is closed. Retries if the connection is cut while it is being established. */
  async #client(): Promise<PoolClient | null> {
    for (let again = 0; ; again++) {
      try {
        return await this.#connected();
      } catch (thrown) {
        if (again === retriesMax || !wasCut(thrown)) throw thrown;
      }
    }
  }

  /** Stops waiting when the breaker opens. */
  async #connected(): Promise<PoolClient | null> {
    if (this.#pool === null) return null;
    if (this.#breaker.isOpen) throw unreachable();
    const connecting = this.#pool.connect();
    const refused = Promise.withResolvers<never>();
    let isRefused = false;
    const stopListening = this.#breaker.onOpen(() => {
      isRefused = true;
      refused.reject(unreachable());
    });
    try {
      return await Promise.race([connecting, refused.promise]);
    } finally {
      stopListening();
      if (isRefused)
        void connecting.then(
          (client) => client.release(true),
          () => undefined,
        );
    }
  }

  #cutAll(): void {
    for (const connection of this.#connections) connection.cut();
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    const isolation = settings.isolationLevel === undefined ? "" : ` isolation level ${settings.isolationLevel}`;
    const access = settings.accessMode === undefined ? "" : ` ${settings.accessMode}`;
    await connection.begin(CompiledQuery.raw(`start transaction${isolation}${access}`));
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit();
  }

  // The original error matters. A connection that cannot roll back is closed, which rolls back too.
  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("rollback")).catch(() => connection.markBroken());
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    this.#connections.delete(connection);
    connection.release();
  }

  /** Waits for running statements, but not for a silent server or connections that do not notice a cut. */
  async destroy(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    this.#stopListening();
    const { promise: cut, resolve } = Promise.withResolvers<void>();
    let silence = setTimeout(() => {
      this.#cutAll();
      silence = setTimeout(resolve, postgresCutMs);
    }, postgresEndMs);
    await Promise.race([pool?.end(), cut]);
    clearTimeout(silence);
  }
}

class PostgresConnection implements DatabaseConnection {
  #client: PoolClient;
  readonly #statementMs: number;
  readonly #breaker: ServerBreaker;
  readonly #another: () => Promise<PoolClient | null>;
  #broken = false;
  #released = false;
  #inTransaction = false;
  /** Cut after a timeout; another connection would time out too. */
  #cut = false;
  readonly #onError = () => this.markBroken();

  /** `another`: gets a replacement; null: the pool is closed. */
  constructor(
    client: PoolClient,
    statementMs: number,
    breaker: ServerBreaker,
    another: () => Promise<PoolClient | null>,
  ) {
    this.#client = client;
    this.#statementMs = statementMs;
    this.#breaker = breaker;
    this.#another = another;
    // Errors between statements; without a listener they would end the process.
    client.on("error", this.#onError);
  }

  /** Retries until the transaction has begun; after that nothing is retried. */
  async begin(query: CompiledQuery): Promise<void> {
    await this.#execute(query, true);
    this.#inTransaction = true;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { command, rowCount, rows } = await this.#execute(query, onlyReads(query));
    const writes = command === "INSERT" || command === "UPDATE" || command === "DELETE";
    return { rows: rows as Row[], ...(writes ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) };
  }

  /** `commit` of a failed transaction rolls back without an error. */
  async commit(): Promise<void> {
    const { command } = await this.#send(CompiledQuery.raw("commit"));
    if (command !== "COMMIT") throw new Error(`The transaction was not committed: the server answered ${command}.`);
  }

  markBroken(): void {
    this.#broken = true;
  }

  /** Running and later statements fail at once. */
  cut(): void {
    this.#cut = true;
    this.#client.connection.stream.destroy();
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#client.off("error", this.#onError);
    this.#client.release(this.#broken);
  }

  // biome-ignore lint/correctness/useYield: it only refuses.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error("Rows are not streamed from PostgreSQL; read them in pages.");
  }

  /** `mayRepeat`: the statement is safe to run twice. */
  async #execute(query: CompiledQuery, mayRepeat: boolean): Promise<PgResult> {
    for (let again = 0; ; again++) {
      try {
        return await this.#send(query);
      } catch (thrown) {
        const lost = this.#broken && !this.#cut && !this.#inTransaction;
        if (!lost || again === retriesMax || !mayRepeat || !(await this.#reconnect())) throw thrown;
      }
    }
  }

  /** Releases the connection first, because others may wait for one. False: there is no other. */
  async #reconnect(): Promise<boolean> {
    this.release();
    const client = await this.#another().catch(() => null);
    if (client === null) return false;
    this.#broken = false;
    this.#released = false;
    this.#client = client;
    client.on("error", this.#onError);
    return true;
  }

  async #send({ sql, parameters, ...query }: CompiledQuery | NamedQuery<unknown>): Promise<PgResult> {
    // The server enforces its statement timeout; this covers a silent server.
    const silence = setTimeout(() => this.cut(), this.#statementMs + postgresSilenceMs);
    try {
      const values = parameters.map(postgresValue);
      const asked =
        "name" in query ? this.#client.query({ name: query.name, text: sql, values }) : this.#client.query(sql, values);
      const result = await asked;
      this.#breaker.countAnswer();
      return result;
    } catch (thrown) {
      if (endsConnection(thrown)) this.markBroken();
      else this.#breaker.countAnswer();
      throw statementProblem(thrown, this.#statementMs);
    } finally {
      clearTimeout(silence);
    }
  }
}

/** All connections of the pool may have broken at once without being noticed. */
const retriesMax = bounds.postgresPoolSize;

/** Only selects built by Kysely: raw SQL and `with` clauses may write. */
function onlyReads({ query }: CompiledQuery): boolean {
  return SelectQueryNode.is(query) && query.with === undefined;
}
