import { test } from "bun:test";
import { startPostgres } from "../../scripts/postgres.mjs";

/** A PostgreSQL server with a superuser, or the reason why there is none. */
export type PostgresServer =
  | { readonly url: string; readonly why: null }
  | { readonly url: null; readonly why: string };

/** Defines tests that need the server. Without one, a single skipped test shows the reason. */
export async function onPostgres(what: string, define: () => void): Promise<void> {
  const { why } = await postgresServer();
  if (why === null) define();
  else test.skip(`${what} on PostgreSQL: ${why}`, () => undefined);
}

let started: Promise<PostgresServer> | null = null;

/**
 * The server of this test run: started by `npm test`, or by this process, which stops it at exit. Without one,
 * the reason is printed once.
 */
export async function postgresServer(): Promise<PostgresServer> {
  started ??= ofTheRun() ?? ownServer();
  return await started;
}

function ofTheRun(): Promise<PostgresServer> | null {
  const setting = process.env["TEST_POSTGRES"] ?? "";
  if (setting === "") return null;
  const why = /^none: (.*)$/.exec(setting)?.[1];
  return Promise.resolve(why === undefined ? { url: setting, why: null } : { url: null, why });
}

async function ownServer(): Promise<PostgresServer> {
  const server = isInstalled()
    ? await startPostgres()
    : { url: null, why: "the package pg is not installed; run npm ci" };
  if (server.url !== null) return { url: server.url, why: null };
  const why = server.why ?? "it did not start";
  console.log(`Tests on PostgreSQL are skipped: ${why}.`);
  return { url: null, why };
}

function isInstalled(): boolean {
  try {
    import.meta.resolve("pg");
    return true;
  } catch {
    return false;
  }
}
