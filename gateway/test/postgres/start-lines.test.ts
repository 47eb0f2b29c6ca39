import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { createLeases } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { joinSharedDatabase, reserveDatabase } from "../../src/main/processes.ts";
import { type Answer, sluice } from "../command-line.ts";
import { asOwner, emptyPostgres, openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";

/** Leases last as usual by the server's clock, but are renewed and checked fifty times as often. */
const quick = { ...systemClock, after: (ms: number, act: () => void) => systemClock.after(ms / 50, act) };

const masterKey = "a master key of at least thirty-two characters";

/** Everything that keeps a command, and so a gateway, from its database is reported in one line. */
await onPostgres("starting", () => {
  let fixture: PostgresFixture;
  let dataDir = "";
  beforeAll(async () => {
    fixture = await openPostgresFixture();
  });
  afterAll(async () => await fixture?.[Symbol.asyncDispose]());
  afterEach(() => {
    if (dataDir !== "") rmSync(dataDir, { recursive: true, force: true });
  });

  const run = (line: string, url: string, variables: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    if (dataDir === "") dataDir = mkdtempSync(join(tmpdir(), "sluice-lines-"));
    const further = { SLUICE_DATABASE_URL: url, SLUICE_MASTER_KEY: masterKey, ...variables };
    return sluice(line.split(" "), dataDir, further);
  };
  const refused = async (line: string, url: string, variables?: Readonly<Record<string, string>>): Promise<string> => {
    const { status, stderr, stdout } = await run(line, url, variables);
    expect([status, stdout, stderr.trim().split("\n")]).toEqual([1, "", [expect.any(String)]]);
    return stderr.trim();
  };

  test("commands work with it, and doctor checks server, clock, room, schema and key", async () => {
    expect((await run("workspace create acme", fixture.url)).status).toBe(0);
    expect((await run("key create --workspace acme --name one", fixture.url)).stderr).toBe("");
    expect((await run("workspace list", fixture.url)).stdout).toContain("acme");
    expect((await run("ledger verify", fixture.url)).stdout).toContain("no errors found");
    expect((await run("migrate", fixture.url)).stdout).toStartWith("already at ");
    const report = (await run("doctor", fixture.url)).stdout;
    expect(report).toMatch(/ok {4}database: PostgreSQL 1\d\.\S+ .*\(sluice_test_\S+ on 127\.0\.0\.1:\d+\)/);
    for (const line of ["database clock: ", "database room: ", "database schema: ", "master key fits: "]) {
      expect(report).toContain(`ok    ${line}`);
    }
    expect(report).not.toContain("postgres://");
    const smaller = new URL(fixture.url);
    smaller.searchParams.set("pool_size", "2");
    expect((await run("doctor", smaller.href)).stdout).toContain("connections are in use; a process may open 12\n");
  });

  test("reports another master key, and a missing one", async () => {
    expect((await run("workspace list", fixture.url)).status).toBe(0);
    const other = { SLUICE_MASTER_KEY: `${masterKey}!` };
    expect(await refused("workspace list", fixture.url, other)).toBe(
      "sluice: This database was made with another master key. Start with that key.",
    );
    const missing = await sluice(["workspace", "list"], dataDir, { SLUICE_DATABASE_URL: fixture.url });
    expect(missing.stderr).toContain("master.key is missing, and the database was made with it");
    expect((await run("doctor", fixture.url, other)).stdout).toContain("fail  master key fits: ");
  });

  test("reports a contracted schema of a later version; an expanded one is accepted", async () => {
    const { kysely } = fixture.database;
    await sql`insert into migrations (name, timestamp) values ('900', '')`.execute(kysely);
    const setting = kysely.updateTable("settings").where("name", "=", "schema.compatible_from");
    try {
      expect((await run("migrate", fixture.url)).stdout).toStartWith("already at ");
      expect((await run("doctor", fixture.url)).stdout).toContain("warn  database schema: migrated by a newer version");
      await setting.set({ value: "900" }).execute();
      const line =
        "sluice: The database has migrations of a newer version (900) that this version cannot work with. " +
        "Start the version that made them, or a later one.";
      expect(await refused("workspace list", fixture.url)).toBe(line);
      expect(await refused("migrate", fixture.url)).toBe(line);
      expect((await run("doctor", fixture.url)).stdout).toContain("fail  database schema: migrated by a newer version");
    } finally {
      await sql`delete from migrations where name = '900'`.execute(kysely);
      await setting.set({ value: "" }).execute();
    }
  });

  test("reports a wrong address without showing the password", async () => {
    const wrong = new URL(fixture.url);
    [wrong.username, wrong.password] = ["nobody", "geheim"];
    const line = await refused("workspace list", wrong.href);
    expect(line).toContain("refuses this user or password");
    expect(line).not.toContain("geheim");
    const { stdout } = await run("doctor", wrong.href);
    expect(stdout).toContain("fail  database: PostgreSQL");
    expect(stdout).not.toContain("geheim");
  });

  test("reports a user who may not read and write the tables", async () => {
    const role = `reader_${process.pid}`;
    await asOwner(fixture.url, async (client) => void (await client.query(`create role ${role} login password 'x'`)));
    try {
      const url = new URL(fixture.url);
      [url.username, url.password] = [role, "x"];
      expect(await refused("workspace list", url.href)).toContain("it may not read and write api_keys, assets, ");
    } finally {
      await asOwner(fixture.url, async (client) => void (await client.query(`drop role ${role}`)));
    }
  });

  test("refuses an empty database next to a file or journal in use", async () => {
    await using empty = await emptyPostgres();
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, "sluice.db"), "something");
    expect(await refused("workspace list", empty.url)).toContain("`sluice migrate --from ");
    rmSync(join(dataDir, "sluice.db"));
    mkdirSync(join(dataDir, "journal"), { recursive: true });
    writeFileSync(join(dataDir, "journal", "000000000007.wal"), "");
    expect(await refused("workspace list", empty.url)).toContain("holds calls of an installation");
  });

  test("backup and restore of a file refer to PostgreSQL's own tools", async () => {
    expect(await refused(`backup ${join(tmpdir(), "never.db")}`, fixture.url)).toContain("pg_dump --format=custom");
    expect(await refused("restore /etc/hostname", fixture.url)).toContain("pg_restore");
  });

  test("refuses a second process without Redis while the first is alive, and not after it ended or died", async () => {
    const leases = createLeases(fixture.database);
    const ended: Error[] = [];
    const several = (owner: string) => ({ leases, owner, clock: quick, hasOthers: async () => false });
    const process = (owner: string, clock = quick) => ({
      leases,
      owner,
      clock,
      onTakenOver: (error: Error) => void ended.push(error),
    });
    const leave = await reserveDatabase(process("proc_1"));
    const seconds = [() => reserveDatabase(process("proc_2")), () => joinSharedDatabase(several("proc_3"))];
    for (const second of seconds) {
      await expect(second()).rejects.toThrow(
        "Another gateway (proc_1) uses this database and counts limits in its own memory. Set SLUICE_REDIS_URL for all gateways",
      );
    }
    await leave();
    // This process is paused, and its lease expires by the server's clock.
    const still: (() => void)[] = [];
    const after = (_ms: number, act: () => void) => {
      still.push(act);
      return () => undefined;
    };
    const stopped = { ...quick, after };
    const leaveStopped = await reserveDatabase(process("proc_4", stopped));
    await sql`update leases set until = 0`.execute(fixture.database.kysely);
    const leaveNext = await reserveDatabase(process("proc_5"));
    expect(ended).toEqual([]);
    still.shift()?.();
    await leaveStopped();
    expect(ended.map(({ message }) => message)).toEqual([expect.stringContaining("Another gateway (proc_5)")]);
    await leaveNext();
  });

  test("refuses a process without Redis while processes with Redis are alive, and not after the last one", async () => {
    const leases = createLeases(fixture.database);
    const one = { leases, clock: quick };
    let others = true;
    const several = (owner: string) => ({ ...one, owner, hasOthers: async () => others });
    const refusedBeside = async (): Promise<void> => {
      const alone = { ...one, owner: "proc_9", onTakenOver: () => undefined };
      await expect(reserveDatabase(alone)).rejects.toThrow(
        "Other gateways use this database and count limits in Redis. Set the same SLUICE_REDIS_URL here",
      );
    };
    const leaveFirst = await joinSharedDatabase(several("proc_1"));
    const leaveSecond = await joinSharedDatabase(several("proc_2"));
    await refusedBeside();
    await leaveFirst();
    await refusedBeside();
    others = false;
    await leaveSecond();
    const still: (() => void)[] = [];
    const after = (_ms: number, act: () => void) => {
      still.push(act);
      return () => undefined;
    };
    const ended: Error[] = [];
    const onTakenOver = (error: Error) => void ended.push(error);
    const leaveAlone = await reserveDatabase({ leases, owner: "proc_9", clock: { ...quick, after }, onTakenOver });
    // It is paused for longer than its lease, and others start meanwhile.
    await sql`update leases set until = 0 where name = 'only-process'`.execute(fixture.database.kysely);
    const leaveThird = await joinSharedDatabase(several("proc_3"));
    still.shift()?.();
    await leaveAlone();
    expect(ended.map(({ message }) => message)).toEqual([expect.stringContaining("Other gateways use this database")]);
    await leaveThird();
  });

  test("processes with Redis that start at the same moment do not refuse each other", async () => {
    const leases = createLeases(fixture.database);
    let reads = 0;
    const after = (_ms: number, act: () => void) => {
      reads++;
      queueMicrotask(act);
      return () => undefined;
    };
    const hasOthers = async () => false;
    // Each new process takes the lease later than the one before, and never as a renewal.
    const newLeases = async () => {
      const lease = await leases.acquire("only-process", "proc_1", 60_000);
      return async () => (lease === null ? undefined : await leases.release(lease));
    };
    let release = await newLeases();
    let turns = 0;
    const watched = {
      ...leases,
      status: async (name: string) => {
        const holder = await leases.status(name);
        if (name === "only-process" && turns++ < 3) {
          await release();
          if (turns < 3) release = await newLeases();
        }
        return holder;
      },
    };
    const leave = await joinSharedDatabase({ leases: watched, owner: "proc_2", clock: { ...quick, after }, hasOthers });
    expect(reads).toBeGreaterThan(1);
    await leave();
  });
});
