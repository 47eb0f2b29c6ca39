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

/** A connection is cut this long after the server should have ended its statement. */
const postgresSilenceMs = 5_000;
/** How long the end of a process waits for running statements, and then for their connections to close. */
const postgresEndMs = 4_000;
const postgresCutMs = 500;

/** A statement that a connection prepares once, under this name: read and planned once, however often it is asked. */
export interface NamedQuery<Result> extends CompiledQuery<Result> {
  readonly name: string;
}

/**
 * Kysely on a pool of the package `pg`. A connection on which something went wrong is closed, never given out again; what only
 * reads, outside a transaction, and what begins one, is asked again on another one when the server goes away in the middle of it, as at a failover.
 * The end of a transaction is believed only when the server says that it has committed. While the breaker is open nothing is asked.
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
    // A connection that breaks while nobody uses it: the pool has dropped it already.
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

  /** null: it is closed. One that is cut while it is made was asked nothing, and another is made. */
  async #client(): Promise<PoolClient | null> {
    for (let again = 0; ; again++) {
      try {
        return await this.#connected();
      } catch (thrown) {
        if (again === retriesMax || !wasCut(thrown)) throw thrown;
      }
    }
  }

  /** A wait for a connection ends when the breaker opens. */
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

  // What is to be heard is why it ends. A connection that cannot even roll back is closed, and so the server does.
  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("rollback")).catch(() => connection.markBroken());
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    this.#connections.delete(connection);
    connection.release();
  }

  /** Waits for what is being done, but not for a server that is silent, nor for connections that do not notice that they were cut. */
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
  /** It was silent for too long: another one would be as well. */
  #cut = false;
  readonly #onError = () => this.markBroken();

  /** `another`: one in its place; null: the pool is closed. */
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
    // It may break between two statements; without a listener that would end the process.
    client.on("error", this.#onError);
  }

  /** From then on until it is released nothing is asked again on another one. Before, nothing was done that could be done twice. */
  async begin(query: CompiledQuery): Promise<void> {
    await this.#execute(query, true);
    this.#inTransaction = true;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { command, rowCount, rows } = await this.#execute(query, onlyReads(query));
    const writes = command === "INSERT" || command === "UPDATE" || command === "DELETE";
    return { rows: rows as Row[], ...(writes ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) };
  }

  /** A transaction in which a statement has failed is rolled back by `commit` too, and without an error. */
  async commit(): Promise<void> {
    const { command } = await this.#send(CompiledQuery.raw("commit"));
    if (command !== "COMMIT") throw new Error(`The transaction was not committed: the server says ${command}.`);
  }

  markBroken(): void {
    this.#broken = true;
  }

  /** Whatever is asked on it fails at once. */
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

  /** `mayRepeat`: it may be asked twice without harm. */
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

  /** Takes another connection in its place, which it leaves first: others may wait for one as well. False: there is none. */
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
    // The server ends a statement that takes too long. A server that says nothing at all is not waited for.
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

/** All of the pool may have been lost at the same moment, one after the other, and not have noticed yet. */
const retriesMax = bounds.postgresPoolSize;

/** A select as it was built here: what is written by hand may do anything, and so may what stands before a select. */
function onlyReads({ query }: CompiledQuery): boolean {
  return SelectQueryNode.is(query) && query.with === undefined;
}
