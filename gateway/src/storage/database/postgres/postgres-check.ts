import type { Pool, PoolClient } from "pg";
import { connectProblem } from "./postgres-problems.ts";
import { type PostgresSettings, PostgresUnusable } from "./postgres-settings.ts";

/** Facts for the check at start and for `sluice doctor`. */
export interface PostgresFacts {
  /** `16.4` */
  readonly version: string;
  readonly encrypted: boolean;
  /** Unix milliseconds. */
  readonly serverTime: number;
  readonly connections: number;
  readonly connectionsMax: number;
}

/** The oldest supported version. */
const versionMin = 15;

/** Checks a server over two connections of a temporary pool. Throws PostgresUnusable. */
export async function checkServer(pool: Pool, settings: PostgresSettings): Promise<PostgresFacts> {
  pool.on("error", () => undefined);
  const clients: PoolClient[] = [];
  const ask = async <Row>(index: number, text: string): Promise<readonly Row[]> => {
    clients[index] ??= await pool.connect();
    const { rows } = await clients[index].query(text);
    return rows as readonly Row[];
  };
  try {
    const [facts] = await ask<ServerFacts>(0, aboutServer);
    const [other] = await ask<Pick<ServerFacts, "session">>(1, "select pg_backend_pid() as session");
    if (facts === undefined || other === undefined) throw new Error("the server gave no row");
    refuseUnusable(facts, settings);
    // Two open connections have the same session only behind a pooler in transaction mode.
    if (facts.session === other.session) throw new PostgresUnusable(transactionPooler(settings));
    return { ...facts, encrypted: facts.encrypted === 1 };
  } catch (thrown) {
    throw thrown instanceof PostgresUnusable ? thrown : connectProblem(thrown, settings);
  } finally {
    for (const client of clients) client.release(true);
    await pool.end();
  }
}

function transactionPooler({ place }: PostgresSettings): string {
  return (
    `PostgreSQL (${place}) is behind a pooler that gives sessions to others between two statements. ` +
    "Let it keep them (PgBouncer: pool_mode=session), or name the server itself."
  );
}

interface ServerFacts extends Omit<PostgresFacts, "encrypted"> {
  readonly major: number;
  readonly encoding: string;
  readonly schema: string | null;
  readonly mayCreate: number;
  readonly migrated: number;
  readonly standby: number;
  readonly session: number;
  readonly encrypted: number | null;
  readonly closed: string | null;
}

/** A sample: other programs may have tables in the schema. */
const ourTables = [
  "migrations",
  "settings",
  "workspaces",
  "api_keys",
  "providers",
  "models",
  "ledger_entries",
  "usage_rollups",
]
  .concat(["tasks", "assets", "audit_log", "changes", "leases", "auth_users", "auth_sessions"])
  .map((name) => `'${name}'`)
  .join(", ");

const lacksRight = ["select", "insert", "update", "delete"]
  .map((right) => `not has_table_privilege(oid, '${right}')`)
  .join(" or ");

const aboutServer = `
  select current_setting('server_version_num')::int / 10000 as major, current_setting('server_version') as version,
    current_setting('server_encoding') as encoding, current_schema() as schema,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
    to_regclass('migrations') is not null as migrated, pg_is_in_recovery() as standby, pg_backend_pid() as session,
    (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as encrypted,
    floor(extract(epoch from clock_timestamp()) * 1000) as "serverTime",
    (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
    current_setting('max_connections')::int as "connectionsMax",
    (select string_agg(relname, ', ') from (
      select relname from pg_class where relkind in ('r', 'p') and relnamespace = to_regnamespace(current_schema())
        and relname in (${ourTables}) and (${lacksRight}) order by relname limit 5) as closed) as closed`;

function refuseUnusable(facts: ServerFacts, { place }: PostgresSettings) {
  const { major, encoding, schema, mayCreate, migrated, standby } = facts;
  const server = `PostgreSQL (${place})`;
  if (major < versionMin) {
    throw new PostgresUnusable(`${server} is version ${major}; version ${versionMin} or a later one is needed.`);
  }
  if (encoding !== "UTF8") {
    throw new PostgresUnusable(`${server} keeps text as ${encoding}: create the database with encoding UTF8.`);
  }
  if (standby === 1) {
    throw new PostgresUnusable(`${server} is a standby, which takes no writes: name the primary server.`);
  }
  if (migrated === 0 && mayCreate === 0) {
    const where = schema === null ? "there is no schema on its search_path" : `it may not create tables in ${schema}`;
    throw new PostgresUnusable(`${server} does not give this user the rights that are needed: ${where}.`);
  }
  if (facts.closed !== null) {
    throw new PostgresUnusable(
      `${server} does not give this user the rights that are needed: it may not read and write ${facts.closed}. ` +
        "Make it their owner, or grant it select, insert, update and delete.",
    );
  }
}
