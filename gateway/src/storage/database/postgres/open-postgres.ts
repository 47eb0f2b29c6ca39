import {
  type BinaryOperationNode,
  type Dialect,
  Kysely,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  ValueListNode,
} from "kysely";
import type { Pool, PoolClient } from "pg";
import type { Database, Flavour, ServerSession } from "../database.ts";
import type { Tables } from "../schema.ts";
import { checkServer, type PostgresFacts } from "./postgres-check.ts";
import { PostgresDriver } from "./postgres-driver.ts";
import { type PostgresSettings, postgresSettings } from "./postgres-settings.ts";
import { postgresTypes } from "./postgres-values.ts";
import { ServerBreaker } from "./server-breaker.ts";

/** The server ends idle transactions after this, releasing their locks. */
const postgresIdleTransactionMs = 60_000;
/** An unused connection is closed. */
const postgresIdleMs = 60_000;

export interface PostgresOptions {
  /** See `postgresSettings`. */
  readonly url: string;
  /** Connections for writing, and as many for reading. Overrides the address. */
  readonly poolSize?: number;
  /** Statement timeout. Overrides the address. */
  readonly statementMs?: number;
  /** True if the server was already checked. */
  readonly isChecked?: boolean;
}

/** Opens a PostgreSQL database without migrating it, after checking the server. Throws PostgresUnusable. */
export async function openPostgres({ url, isChecked = false, ...given }: PostgresOptions): Promise<Database> {
  const settings: PostgresSettings = { ...postgresSettings(url), ...given };
  if (!isChecked) await checkAddress(settings);
  const breaker = new ServerBreaker();
  const kysely = kyselyOn(settings, breaker, "");
  let reading: Kysely<Tables> | null = null;
  return {
    kysely,
    get reading() {
      reading ??= kyselyOn(settings, breaker, "set default_transaction_read_only = on; set work_mem = '32MB';");
      return reading;
    },
    flavour: postgresFlavour,
    breaker,
    openSession: async () => await openServerSession(await openPool({ ...settings, poolSize: 1 }, "")),
    async close() {
      await reading?.destroy();
      await kysely.destroy();
    },
  };
}

/** Facts about the server, and how many connections a process may open. Throws PostgresUnusable. */
export async function postgresFacts(url: string) {
  const settings = postgresSettings(url);
  const facts = await checkAddress(settings);
  // Pools for writing, reading and reports; single ones for the drain, explanations, notices, leases and health checks.
  return { ...facts, place: settings.place, connectionsOfProcess: 3 * settings.poolSize + 6 };
}

async function checkAddress(settings: PostgresSettings): Promise<PostgresFacts> {
  return await checkServer(await openPool({ ...settings, poolSize: 2 }, ""), settings);
}

const postgresFlavour: Flavour = {
  name: "postgres",
};

function kyselyOn(settings: PostgresSettings, breaker: ServerBreaker, further: string): Kysely<Tables> {
  const dialect = postgresDialect(() => openPool(settings, further), settings.statementMs, breaker);
  return new Kysely<Tables>({ dialect });
}

async function openPool(settings: PostgresSettings, further: string): Promise<Pool> {
  const { default: pg } = await import("pg");
  const { host, port, user, password, database, connectMs } = settings;
  // Set by a statement, because poolers reject unknown startup parameters.
  const session = `
    set statement_timeout = ${settings.statementMs}; set idle_in_transaction_session_timeout = ${postgresIdleTransactionMs};
    set timezone = 'UTC'; set datestyle = 'ISO'; set default_transaction_isolation = 'read committed'; set jit = off; ${further}`;
  return new pg.Pool({
    host,
    port,
    user,
    password,
    database,
    ssl: settings.tls,
    max: settings.poolSize,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: postgresIdleMs,
    keepAlive: true,
    application_name: settings.applicationName,
    types: postgresTypes,
    // The pool's timeout does not cover this first statement.
    onConnect: async (client: PoolClient) => void (await client.query({ text: session, query_timeout: connectMs })),
  });
}

function postgresDialect(open: () => Promise<Pool>, statementMs: number, breaker: ServerBreaker): Dialect {
  return {
    createDriver: () => new PostgresDriver(open, statementMs, breaker),
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new Compiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

class Compiler extends PostgresQueryCompiler {
  /** An empty list is valid in SQLite but not in PostgreSQL. */
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand } = node;
    const name = OperatorNode.is(operator) ? operator.operator : "";
    const isList = ValueListNode.is(rightOperand) || PrimitiveValueListNode.is(rightOperand);
    if ((name === "in" || name === "not in") && isList && rightOperand.values.length === 0) {
      this.append(name === "in" ? "false" : "true");
    } else super.visitBinaryOperation(node);
  }
}

/** Takes the only connection of a separate pool. */
async function openServerSession(pool: Pool): Promise<ServerSession> {
  pool.on("error", () => undefined);
  const client = await pool.connect().catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  let isOver = false;
  let ended: Promise<void> | null = null;
  const session: ServerSession = {
    run: async (statement) => (await client.query(statement)).rows,
    onNotice: () => undefined,
    onEnd: () => undefined,
    get isOver() {
      return isOver;
    },
    async end() {
      over();
      ended ??= pool.end();
      await ended;
    },
  };
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    // Closes the connection even if the server is silent.
    client.release(true);
    session.onEnd();
  };
  client.on("notification", (message: { readonly payload?: string }) => session.onNotice(message.payload ?? ""));
  client.on("error", over);
  client.on("end", over);
  return session;
}
