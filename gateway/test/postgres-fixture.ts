import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { bounds } from "#core/index.ts";
import { type Database, migrate, openPostgres } from "#storage/index.ts";
import { migrateOneAhead } from "./one-schema-ahead.ts";
import { postgresServer } from "./postgres-server.ts";

/** An empty, migrated database on the tests' server, for one test. */
export interface PostgresFixture extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
}

/**
 * Creating a database takes a fifth of a second, so used ones are emptied and reused; each process has its
 * own. Migrations create a template, and the others are copies of it.
 */
export async function openPostgresFixture(): Promise<PostgresFixture> {
  return await fixtureOf(free, madeDatabase);
}

/** The same with the next version's schema; see one-schema-ahead.ts. */
export async function openPostgresOneAhead(): Promise<PostgresFixture> {
  return await fixtureOf(freeOneAhead, async () => {
    const url = await madeDatabase();
    const database = await openPostgres({ url, poolSize: 1 });
    await migrateOneAhead(database);
    await database.close();
    return url;
  });
}

async function fixtureOf(free: string[], make: () => Promise<string>): Promise<PostgresFixture> {
  const used = free.pop();
  const url = used ?? (await make());
  // On a busy machine, hundreds of queries at once queue up for a few connections.
  const database = await openPostgres({ url: `${url}?connect_timeout=100`, isChecked: used !== undefined });
  return {
    url,
    database,
    async [Symbol.asyncDispose]() {
      await database.close();
      await empty(url);
      free.push(url);
    },
  };
}

/** A connection per database that empties it: on a new connection this takes four times as long. */
const cleaners = new Map<string, Client>();

async function empty(url: string): Promise<void> {
  try {
    await (await cleanerOf(url)).query(emptying);
  } catch {
    // A test may have ended every connection to its database.
    cleaners.delete(url);
    await (await cleanerOf(url)).query(emptying);
  }
}

async function cleanerOf(url: string): Promise<Client> {
  const cleaner = cleaners.get(url);
  if (cleaner !== undefined) return cleaner;
  const client = await connected(url);
  client.on("error", () => cleaners.delete(url));
  cleaners.set(url, client);
  return client;
}

/** Unused databases of this process. */
const free: string[] = [];
const freeOneAhead: string[] = [];
let made = 0;

const migrationsFolder = new URL("../src/storage/database/migrations/", import.meta.url).pathname;
const migrationTexts = readdirSync(migrationsFolder).map((name) => readFileSync(join(migrationsFolder, name), "utf8"));
/** Other versions of the migrations that share the server have separate templates. */
const pattern = `sluice_pattern_${Bun.hash(migrationTexts.join("")).toString(36)}`;

async function madeDatabase(): Promise<string> {
  const server = await serverUrl();
  const name = `sluice_test_${process.pid}_${++made}`;
  await asOwner(server, async (client) => {
    // The processes of a run share the server: one creates the template while the others wait.
    await client.query("select pg_advisory_lock(1)");
    const { rows } = await client.query("select 1 from pg_database where datname = $1", [pattern]);
    if (rows.length === 0) {
      const draft = `${pattern}_draft`;
      await client.query(`drop database if exists ${draft}`);
      await client.query(`create database ${draft}`);
      const database = await openPostgres({ url: named(server, draft), statementMs: bounds.postgresMigrationMs });
      await migrate(database);
      await database.close();
      await asOwner(named(server, draft), async (own) => void (await own.query(remembering)));
      await client.query(`alter database ${draft} rename to ${pattern}`);
    }
    await client.query(`create database ${name} template ${pattern} strategy file_copy`);
    await client.query("select pg_advisory_unlock(1)");
  });
  return named(server, name);
}

/** A new database without tables. Disposing it drops the database. */
export async function emptyPostgres(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = await serverUrl();
  const name = `sluice_empty_${process.pid}_${++made}`;
  await asOwner(server, async (client) => void (await client.query(`create database ${name}`)));
  return {
    url: named(server, name),
    async [Symbol.asyncDispose]() {
      await asOwner(server, async (client) => void (await client.query(`drop database ${name} with (force)`)));
    },
  };
}

/** Rows inserted by migrations are saved, to be restored later. */
const remembering = "create schema seeds; create table seeds.settings as select * from settings";

/** Deleting costs a tenth of truncating while there are few rows. */
const emptying = `
  do $$
  declare one record;
  begin
    set local session_replication_role = replica;
    for one in
      select oid::regclass as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not in ('migrations', 'migration_lock')
    loop
      execute format('delete from %s', one.name);
    end loop;
    for one in select oid::regclass as name from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace
    loop
      perform setval(one.name, 1, false);
    end loop;
    insert into settings select * from seeds.settings;
  end $$`;

/** Runs on a separate connection as the server's owner. */
export async function asOwner<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await connected(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function connected(url: string): Promise<Client> {
  // Imported here rather than above, because tests without a server use files that import this one.
  const { default: pg } = await import("pg");
  const client = new pg.Client(url);
  await client.connect();
  return client;
}

async function serverUrl(): Promise<string> {
  const { url, why } = await postgresServer();
  if (url === null) throw new Error(`there is no PostgreSQL server: ${why}`);
  return url;
}

function named(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
