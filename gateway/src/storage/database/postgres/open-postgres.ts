import { Kysely } from "kysely";
import type { Pool, PoolClient } from "pg";
import { bounds } from "#core/index.ts";
import type { Database, Flavour } from "../database.ts";
import type { Tables } from "../schema.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { connectProblem } from "./postgres-problems.ts";
import { type PostgresSettings, postgresSettings } from "./postgres-settings.ts";
import { PostgresUnusable } from "./postgres-unusable.ts";
import { postgresTypes } from "./postgres-values.ts";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database?…`, see `postgresSettings`. */
  readonly url: string;
  /** Connections for writing, and as many for reading; in place of what the address says. */
  readonly poolSize?: number;
  /** How long a statement may take; in place of what the address says. */
  readonly statementMs?: number;
}

/** The oldest version whose statements are used. */
const versionMin = 15;

/**
 * Opens (but does not migrate) a database on a PostgreSQL server, after a look at whether it can be used. Throws PostgresUnusable,
 * one line, when it cannot.
 */
export async function openPostgres({ url, ...given }: PostgresOptions): Promise<Database> {
  const settings: PostgresSettings = { ...postgresSettings(url), ...given };
  await checkServer(settings);
  const kysely = kyselyOn(settings, "");
  let reading: Kysely<Tables> | null = null;
  return {
    kysely,
    get reading() {
      reading ??= kyselyOn(settings, "set default_transaction_read_only = on;");
      return reading;
    },
    flavour: postgresFlavour,
    async close() {
      await reading?.destroy();
      await kysely.destroy();
    },
  };
}

const postgresFlavour: Flavour = {
  name: "postgres",
  parametersMax: 65_535,
  sequenceType: "bigserial",
  sequence: (column) => column.primaryKey(),
};

function kyselyOn(settings: PostgresSettings, further: string): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: postgresDialect(() => openPool(settings, further), settings.statementMs) });
}

async function openPool(settings: PostgresSettings, further: string): Promise<Pool> {
  const { default: pg } = await import("pg");
  const { host, port, user, password, database, tls, poolSize, connectMs, statementMs, applicationName } = settings;
  // Told by a statement and not when connecting: poolers in between refuse what they do not know then.
  const session = `
    set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = ${bounds.postgresIdleTransactionMs};
    set timezone = 'UTC'; set datestyle = 'ISO'; set default_transaction_isolation = 'read committed'; ${further}`;
  return new pg.Pool({
    host,
    port,
    user,
    password,
    database,
    ssl: tls,
    max: poolSize,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: bounds.postgresIdleMs,
    keepAlive: true,
    application_name: applicationName,
    types: postgresTypes,
    onConnect: async (client: PoolClient) => void (await client.query(session)),
  });
}

async function checkServer(settings: PostgresSettings): Promise<void> {
  const pool = await openPool({ ...settings, poolSize: 1 }, "");
  pool.on("error", () => undefined);
  try {
    const client = await pool.connect();
    try {
      const { rows } = await client.query(aboutServer);
      refuseUnfit(rows[0] as ServerFacts, settings);
    } finally {
      client.release(true);
    }
  } catch (thrown) {
    throw thrown instanceof PostgresUnusable ? thrown : connectProblem(thrown, settings);
  } finally {
    await pool.end();
  }
}

interface ServerFacts {
  readonly version: number;
  readonly encoding: string;
  readonly schema: string | null;
  readonly may_create: number;
  readonly migrated: number;
}

const aboutServer = `
  select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
    current_schema() as schema, coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
    to_regclass('migrations') is not null as migrated`;

function refuseUnfit({ version, encoding, schema, may_create, migrated }: ServerFacts, { place }: PostgresSettings) {
  const server = `PostgreSQL (${place})`;
  const major = Math.floor(version / 10_000);
  if (major < versionMin) {
    throw new PostgresUnusable(`${server} is version ${major}; version ${versionMin} or a later one is needed.`);
  }
  if (encoding !== "UTF8") {
    throw new PostgresUnusable(`${server} keeps text as ${encoding}: create the database with encoding UTF8.`);
  }
  if (migrated === 0 && may_create === 0) {
    const where = schema === null ? "there is no schema on its search_path" : `it may not create tables in ${schema}`;
    throw new PostgresUnusable(`${server} does not give this user the rights that are needed: ${where}.`);
  }
}
