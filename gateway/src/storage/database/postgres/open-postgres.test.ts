import { expect, test } from "bun:test";
import { join } from "node:path";
import { freePort } from "../../../../../test/acceptance/free-port.ts";
import { asOwner, emptyPostgres } from "../../../../test/postgres-fixture.ts";
import { onPostgres, postgresServer } from "../../../../test/postgres-server.ts";
import { openPostgres } from "./open-postgres.ts";

const certificate = join(import.meta.dir, "../../../../test/fixtures/tls/upstream.example.cert.pem");

async function complaintOf(url: string): Promise<string> {
  try {
    const database = await openPostgres({ url });
    await database.close();
    return "opened";
  } catch (thrown) {
    expect(thrown).toMatchObject({ name: "PostgresUnusable" });
    return thrown instanceof Error ? thrown.message : "";
  }
}

test.each([
  ["nonsense", "is not a URL"],
  ["mysql://u:geheim@db/x", "is not a URL"],
  ["postgres://u:geheim@db", "names no database"],
  ["postgres://db/x", "names no user"],
  ["postgres://u:ge%heim@db/x", "percent sign"],
  ["postgres://u:geheim@db/x?sslmode=prefer", "sslmode=prefer is none of disable, require, verify-ca and verify-full"],
  ["postgres://u:geheim@db/x?sslrootcert=/nowhere.pem", "/nowhere.pem (sslrootcert) cannot be read"],
  ["postgres://u:geheim@db/x?pool_size=0", "pool_size in the address of PostgreSQL must be an integer from 1 to 100"],
  ["postgres://u:geheim@db/x?schema=y", "unknown parameter schema; supported are sslmode"],
  ["postgres://u:geheim@nowhere.invalid/x", "(x on nowhere.invalid:5432)"],
])("rejects an invalid address in one line without the password: %s", async (url, words) => {
  const line = await complaintOf(url);
  expect(line).toContain(words);
  expect(line).not.toContain("geheim");
  expect(line).not.toContain("\n");
});

test("names the server if it is not running", async () => {
  const port = await freePort();
  expect(await complaintOf(`postgres://u:geheim@127.0.0.1:${port}/x`)).toBe(
    `PostgreSQL (x on 127.0.0.1:${port}) refuses connections: it does not run there, or listens elsewhere.`,
  );
});

await onPostgres("opening a database", () => {
  test("reports a wrong password, a missing database, and a user without rights in one line each, without the password", async () => {
    await using empty = await emptyPostgres();
    const role = `somebody_${process.pid}`;
    await asOwner(empty.url, async (client) => {
      await client.query(`create role ${role} login password 'geheim'`);
    });
    const as = (password: string, database: string, parameters = "") => {
      const url = new URL(empty.url);
      [url.username, url.password, url.pathname, url.search] = [role, password, `/${database}`, parameters];
      return url.href;
    };
    const name = new URL(empty.url).pathname.slice(1);
    try {
      const lines = [
        await complaintOf(as("falsch", name)),
        await complaintOf(as("geheim", "gone")),
        await complaintOf(as("geheim", name)),
      ];
      expect(lines.map((line) => line.replace(/\(\S+ on \S+\)/, "(place)"))).toEqual([
        "PostgreSQL (place) refuses this user or password.",
        "There is no database gone on this server: create it first (createdb gone).",
        "PostgreSQL (place) does not give this user the rights that are needed: it may not create tables in public.",
      ]);
      for (const line of lines) expect(line).not.toMatch(/geheim|falsch/);
    } finally {
      await asOwner(empty.url, async (client) => void (await client.query(`drop role ${role}`)));
    }
  });

  test("refuses an old server and a database without UTF8", async () => {
    await using empty = await emptyPostgres();
    // This server is neither, so functions of the same name hide the built-in ones.
    const asked = (setting: string, told: string) =>
      asOwner(empty.url, async (client) => {
        const name = new URL(empty.url).pathname.slice(1);
        await client.query(`
          create schema if not exists told;
          create or replace function told.current_setting(name text) returns text language sql as $$
            select case when name = '${setting}' then '${told}' else pg_catalog.current_setting(name) end $$;
          alter database ${name} set search_path = told, pg_catalog, public`);
      });
    await asked("server_version_num", "140011");
    expect(await complaintOf(empty.url)).toContain("is version 14; version 15 or a later one is needed.");
    await asked("server_encoding", "SQL_ASCII");
    expect(await complaintOf(empty.url)).toContain("keeps text as SQL_ASCII: create the database with encoding UTF8.");
  });

  test("encrypts and verifies according to sslmode", async () => {
    const { url: server } = await postgresServer();
    const opened = (parameters: string) => complaintOf(`${server}?${parameters}`);
    expect(await opened("sslmode=disable")).toBe("opened");
    expect(await opened("sslmode=require")).toBe("opened");
    expect(await opened(`sslmode=require&sslrootcert=${certificate}`)).toBe("opened");
    expect(await opened(`sslmode=verify-ca&sslrootcert=${certificate}`)).toBe("opened");
    expect(await opened("sslmode=verify-ca")).toContain("a certificate of an unknown authority");
    expect(await opened("sslmode=verify-full")).toContain("a certificate of an unknown authority");
    expect(await opened(`sslmode=verify-full&sslrootcert=${certificate}`)).toContain(
      "shows a certificate for another name than 127.0.0.1.",
    );
  });

  test("encrypts connections on request, and sets the application name", async () => {
    const { url: server } = await postgresServer();
    for (const mode of ["disable", "require"]) {
      const database = await openPostgres({ url: `${server}?sslmode=${mode}&application_name=probe` });
      const { rows } = await database.kysely.executeQuery<Readonly<Record<string, unknown>>>({
        ...database.kysely.selectFrom("settings").compile(),
        sql: "select ssl, application_name from pg_stat_ssl join pg_stat_activity using (pid) where pid = pg_backend_pid()",
        parameters: [],
      });
      await database.close();
      expect(rows).toEqual([{ ssl: mode === "require" ? 1 : 0, application_name: "probe" }]);
    }
  });
});
