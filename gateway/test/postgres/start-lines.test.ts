import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { createLeases } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { beOneOfSeveral, beOnlyProcess } from "../../src/main/processes.ts";
import { type Answer, sluice } from "../command-line.ts";
import { asOwner, emptyPostgres, openPostgresGround, type PostgresGround } from "../postgres-ground.ts";
import { onPostgres } from "../postgres-server.ts";

/** Leases last as long as ever, by the server's clock; who renews them and looks at them does so fifty times as often. */
const quick = { ...systemClock, after: (ms: number, act: () => void) => systemClock.after(ms / 50, act) };

const masterKey = "a master key of at least thirty-two characters";

/** Each thing that keeps a command, and so a gateway, from its database is told in one line. */
await onPostgres("starting", () => {
  let ground: PostgresGround;
  let dataDir = "";
  beforeAll(async () => {
    ground = await openPostgresGround();
  });
  afterAll(async () => await ground?.[Symbol.asyncDispose]());
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

  test("commands work on it, and doctor looks at server, clock, room, schema and key", async () => {
    expect((await run("workspace create acme", ground.url)).status).toBe(0);
    expect((await run("key create --workspace acme --name one", ground.url)).stderr).toBe("");
    expect((await run("workspace list", ground.url)).stdout).toContain("acme");
    expect((await run("ledger verify", ground.url)).stdout).toContain("no errors found");
    expect((await run("migrate", ground.url)).stdout).toStartWith("already at ");
    const looked = (await run("doctor", ground.url)).stdout;
    expect(looked).toMatch(/ok {4}database: PostgreSQL 1\d\.\S+ .*\(sluice_test_\S+ on 127\.0\.0\.1:\d+\)/);
    for (const line of ["database clock: ", "database room: ", "database schema: ", "master key fits: "]) {
      expect(looked).toContain(`ok    ${line}`);
    }
    expect(looked).not.toContain("postgres://");
    const smaller = new URL(ground.url);
    smaller.searchParams.set("pool_size", "2");
    expect((await run("doctor", smaller.href)).stdout).toContain("connections are in use; a process may open 12\n");
  });

  test("another master key, and none where there was one", async () => {
    expect((await run("workspace list", ground.url)).status).toBe(0);
    const other = { SLUICE_MASTER_KEY: `${masterKey}!` };
    expect(await refused("workspace list", ground.url, other)).toBe(
      "sluice: This database was made with another master key. Start with that key.",
    );
    const missing = await sluice(["workspace", "list"], dataDir, { SLUICE_DATABASE_URL: ground.url });
    expect(missing.stderr).toContain("master.key is missing, and the database was made with it");
    expect((await run("doctor", ground.url, other)).stdout).toContain("fail  master key fits: ");
  });

  test("a schema of a later version that has taken something away; one that has only added is no obstacle", async () => {
    const { kysely } = ground.database;
    await sql`insert into migrations (name, timestamp) values ('900', '')`.execute(kysely);
    const said = kysely.updateTable("settings").where("name", "=", "schema.compatible_from");
    try {
      expect((await run("migrate", ground.url)).stdout).toStartWith("already at ");
      expect((await run("doctor", ground.url)).stdout).toContain("warn  database schema: migrated by a newer version");
      await said.set({ value: "900" }).execute();
      const line =
        "sluice: The database has migrations this version does not know (900), and they do not let it work beside them. " +
        "Start the version that made them, or a later one.";
      expect(await refused("workspace list", ground.url)).toBe(line);
      expect(await refused("migrate", ground.url)).toBe(line);
      expect((await run("doctor", ground.url)).stdout).toContain("fail  database schema: migrated by a newer version");
    } finally {
      await sql`delete from migrations where name = '900'`.execute(kysely);
      await said.set({ value: "" }).execute();
    }
  });

  test("an address that is wrong, with the password in no line", async () => {
    const wrong = new URL(ground.url);
    [wrong.username, wrong.password] = ["nobody", "geheim"];
    const line = await refused("workspace list", wrong.href);
    expect(line).toContain("refuses this user or password");
    expect(line).not.toContain("geheim");
    const { stdout } = await run("doctor", wrong.href);
    expect(stdout).toContain("fail  database: PostgreSQL");
    expect(stdout).not.toContain("geheim");
  });

  test("a user who may not read and write the tables", async () => {
    const role = `reader_${process.pid}`;
    await asOwner(ground.url, async (client) => void (await client.query(`create role ${role} login password 'x'`)));
    try {
      const url = new URL(ground.url);
      [url.username, url.password] = [role, "x"];
      expect(await refused("workspace list", url.href)).toContain("it may not read and write api_keys, assets, ");
    } finally {
      await asOwner(ground.url, async (client) => void (await client.query(`drop role ${role}`)));
    }
  });

  test("an empty database beside a file or a journal that has been used", async () => {
    await using empty = await emptyPostgres();
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, "sluice.db"), "something");
    expect(await refused("workspace list", empty.url)).toContain("`sluice migrate --from ");
    rmSync(join(dataDir, "sluice.db"));
    mkdirSync(join(dataDir, "journal"), { recursive: true });
    writeFileSync(join(dataDir, "journal", "000000000007.wal"), "");
    expect(await refused("workspace list", empty.url)).toContain("holds calls of an installation");
  });

  test("what copies a file says who copies a server's database", async () => {
    expect(await refused(`backup ${join(tmpdir(), "never.db")}`, ground.url)).toContain("pg_dump --format=custom");
    expect(await refused("restore /etc/hostname", ground.url)).toContain("pg_restore");
  });

  test("a second process that counts by itself is refused while the first is alive, and not after its end or its death", async () => {
    const leases = createLeases(ground.database);
    const ended: Error[] = [];
    const several = (owner: string) => ({ leases, owner, clock: quick, hasOthers: async () => false });
    const process = (owner: string, clock = quick) => ({
      leases,
      owner,
      clock,
      onTaken: (error: Error) => void ended.push(error),
    });
    const leave = await beOnlyProcess(process("proc_1"));
    const seconds = [() => beOnlyProcess(process("proc_2")), () => beOneOfSeveral(several("proc_3"))];
    for (const second of seconds) {
      await expect(second()).rejects.toThrow(
        "Another gateway (proc_1) uses this database and counts limits in its own memory. Set SLUICE_REDIS_URL for all gateways",
      );
    }
    await leave();
    // This one stands still, and its time runs out by the server's clock.
    const still: (() => void)[] = [];
    const after = (_ms: number, act: () => void) => {
      still.push(act);
      return () => undefined;
    };
    const stopped = { ...quick, after };
    const leaveStopped = await beOnlyProcess(process("proc_4", stopped));
    await sql`update leases set until = 0`.execute(ground.database.kysely);
    const leaveNext = await beOnlyProcess(process("proc_5"));
    expect(ended).toEqual([]);
    still.shift()?.();
    await leaveStopped();
    expect(ended.map(({ message }) => message)).toEqual([expect.stringContaining("Another gateway (proc_5)")]);
    await leaveNext();
  });

  test("one that counts by itself is refused beside those that count in Redis, while any of them is alive, and not after the last", async () => {
    const leases = createLeases(ground.database);
    const one = { leases, clock: quick };
    let others = true;
    const several = (owner: string) => ({ ...one, owner, hasOthers: async () => others });
    const refusedBeside = async (): Promise<void> => {
      const alone = { ...one, owner: "proc_9", onTaken: () => undefined };
      await expect(beOnlyProcess(alone)).rejects.toThrow(
        "Other gateways use this database and count limits in Redis. Set the same SLUICE_REDIS_URL here",
      );
    };
    const leaveFirst = await beOneOfSeveral(several("proc_1"));
    const leaveSecond = await beOneOfSeveral(several("proc_2"));
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
    const onTaken = (error: Error) => void ended.push(error);
    const leaveAlone = await beOnlyProcess({ leases, owner: "proc_9", clock: { ...quick, after }, onTaken });
    // It stands still for longer than its lease, and others begin meanwhile.
    await sql`update leases set until = 0 where name = 'only-process'`.execute(ground.database.kysely);
    const leaveThird = await beOneOfSeveral(several("proc_3"));
    still.shift()?.();
    await leaveAlone();
    expect(ended.map(({ message }) => message)).toEqual([expect.stringContaining("Other gateways use this database")]);
    await leaveThird();
  });

  test("those that count in Redis and begin at the same moment are not refused for each other's first look", async () => {
    const leases = createLeases(ground.database);
    let looks = 0;
    const after = (_ms: number, act: () => void) => {
      looks++;
      queueMicrotask(act);
      return () => undefined;
    };
    const hasOthers = async () => false;
    // Each taking of another that begins is later than the one before, and none of them is a renewal.
    const takenAnew = async () => {
      const lease = await leases.acquire("only-process", "proc_1", 60_000);
      return async () => (lease === null ? undefined : await leases.release(lease));
    };
    let release = await takenAnew();
    let turns = 0;
    const watched = {
      ...leases,
      status: async (name: string) => {
        const holder = await leases.status(name);
        if (name === "only-process" && turns++ < 3) {
          await release();
          if (turns < 3) release = await takenAnew();
        }
        return holder;
      },
    };
    const leave = await beOneOfSeveral({ leases: watched, owner: "proc_2", clock: { ...quick, after }, hasOthers });
    expect(looks).toBeGreaterThan(1);
    await leave();
  });
});
