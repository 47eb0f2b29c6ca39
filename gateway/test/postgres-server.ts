import { test } from "bun:test";
import { startPostgres } from "../../scripts/postgres.mjs";

/** A PostgreSQL server with an owner of everything, or why there is none. */
export type PostgresServer =
  | { readonly url: string; readonly why: null }
  | { readonly url: null; readonly why: string };

/** Defines tests that need the server; where there is none, one test stands for them that is skipped, with the reason. */
export async function onPostgres(what: string, define: () => void): Promise<void> {
  const { why } = await postgresServer();
  if (why === null) define();
  else test.skip(`${what} on PostgreSQL: ${why}`, () => undefined);
}

let started: Promise<PostgresServer> | null = null;

/**
 * The server of this run of the tests: the one that `npm test` has started, or one of this process, which goes with it. Where
 * there is none, the reason is printed once.
 */
export async function postgresServer(): Promise<PostgresServer> {
  started ??= ofTheRun() ?? ownServer();
  return await started;
}

function ofTheRun(): Promise<PostgresServer> | null {
  const told = process.env["TEST_POSTGRES"] ?? "";
  if (told === "") return null;
  const why = /^none: (.*)$/.exec(told)?.[1];
  return Promise.resolve(why === undefined ? { url: told, why: null } : { url: null, why });
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
