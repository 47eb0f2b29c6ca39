import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { readEnvironment } from "#config/index.ts";
import { Secret } from "#core/index.ts";
import { createLedgerStore, dataPaths, moveOver, openDatabase, openJournalDirectory } from "#storage/index.ts";
import { bareEnvironment } from "../../../test/bare-environment.ts";
import { commandOf, programs } from "../../../test/programs.ts";
import { until } from "../../../test/until.ts";
import { openControl } from "../../src/main/control.ts";
import { setAsidePath } from "../../src/storage/disk/drain-set-aside.ts";
import { sluice } from "../command-line.ts";
import { silentObserver } from "../conformance/store-fixture.ts";
import { FakeClock } from "../fake-clock.ts";
import { noDrain } from "../ledger/drain-in-place.ts";
import { EagerJournal } from "../ledger/eager-journal.ts";
import { attemptIdOf, intentOf, settlementOf } from "../ledger/history.ts";
import { asOwner, emptyPostgres } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const price = { input: 1.25, cache_read: 0.125, output: 10 };
const picture =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

await onPostgres("moving an installation to PostgreSQL", () => {
  let embedded: StartedGateway;
  let usageBefore = "";
  let videoId = "";
  let responseId = "";
  let entriesBefore: unknown;
  const administrator = { email: "anna@example.com", password: new Secret("correct horse battery staple") };

  const usageOf = async (gateway: StartedGateway) => {
    const { data, totals } = (await (await gateway.get("/v1/usage")).json()) as { data: unknown; totals: unknown };
    return JSON.stringify({ data, totals });
  };
  const digest = () =>
    createHash("sha256")
      .update(readFileSync(dataPaths(embedded.dataDir).database))
      .digest("hex");

  beforeAll(async () => {
    embedded = await startGateway({
      environment: { administrator },
      providers: (simulator) => [
        upstream("main", simulator),
        upstream("answers", simulator, { kind: "openai" }),
        upstream("films", simulator, { kind: "ark" }),
      ],
      models: [
        { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price },
        { name: "gpt-kept", deployments: [{ provider: "answers", upstream_model: "upstream-gpt" }], price },
        {
          name: "film",
          type: "video",
          deployments: [{ provider: "films", upstream_model: "doubao-seedance-2-0-260128" }],
          price: { output: 6 },
        },
      ],
    });
    for (let n = 0; n < 40; n++) {
      const answer = await embedded.chat(hello, { script: n % 8 === 7 ? { status: 400 } : { tokens: 3 + n } });
      await answer.arrayBuffer();
    }
    const group = await embedded.post("/v1/asset-groups", { platform: "local", name: "faces" });
    expect(await group.json()).toMatchObject({ name: "faces" });
    const video = { model: "film", prompt: "A boat.", input_reference: { image_url: picture } };
    const made = await embedded.post("/v1/videos", video);
    expect(made.status, await made.clone().text()).toBe(200);
    videoId = ((await made.json()) as { id: string }).id;
    // Until then its cost may reach the ledger at any moment.
    await until(async () => {
      const { status } = (await (await embedded.get(`/v1/videos/${videoId}`)).json()) as { status: string };
      return status === "completed";
    });
    const stored = await embedded.post("/v1/responses", { model: "gpt-kept", input: "hello", store: true });
    expect(stored.status).toBe(200);
    responseId = ((await stored.json()) as { id: string }).id;
    await embedded.gateway.explainer.written();
    entriesBefore = await embedded.entries();
    usageBefore = await usageOf(embedded);
    await embedded.gateway.close();
    // Ledger rows of an earlier year and with unusual text.
    const database = openDatabase({ path: dataPaths(embedded.dataDir).database });
    await sql`insert into audit_log (at, actor, action, object, before, after)
      values (1, 'a "quoted", {braced} \\ one', 'NULL', 'a' || char(0) || 'b', null, '')`.execute(database.kysely);
    await sql`update sqlite_sequence set seq = 5000 where name = 'audit_log'`.execute(database.kysely);
    expect(await createLedgerStore(database).sumDay(Date.now() + 3 * 86_400_000)).toBe(1);
    await database.close();
  });
  afterAll(() => {
    embedded?.simulator.stop();
    rmSync(embedded?.dataDir ?? "", { recursive: true, force: true });
  });

  const move = (url: string, onTable: (name: string) => void = () => undefined, recoverJournal = async () => 0) =>
    moveOver({
      from: dataPaths(embedded.dataDir),
      to: { kind: "postgres", url: new Secret(url) },
      masterKey: null,
      now: Date.UTC(2026, 10, 22),
      recoverJournal,
      onTable,
    });

  test("an interrupted move cannot be started, can be repeated, and then everything is unchanged", async () => {
    await using empty = await emptyPostgres();
    const before = digest();
    const environment = {
      ...readEnvironment({ SLUICE_DATA_DIR: embedded.dataDir }),
      databaseUrl: new Secret(empty.url),
    };
    for (const stop of ["api_keys", "ledger_entries", "settings"]) {
      const broken = move(empty.url, (name) => {
        if (name === stop) throw new Error("broken off");
      });
      await expect(broken).rejects.toThrow("broken off");
      await expect(openControl(environment)).rejects.toThrow("run `sluice migrate --from <folder>` to its end first");
    }
    const lost = move(empty.url, undefined, () => Promise.reject(new Error("journal")));
    await expect(lost).rejects.toThrow("journal");
    // An entry that no database accepts: NaN becomes null in JSON.
    const { journal } = dataPaths(embedded.dataDir);
    const left = new EagerJournal({
      directory: openJournalDirectory(journal),
      durability: "process",
      drain: noDrain(),
      clock: new FakeClock(),
      observer: silentObserver,
      onFatal: (error) => {
        throw error;
      },
    });
    left.intent(intentOf(1));
    left.settle(settlementOf(1, { totalMs: Number.NaN }));
    await left.close(0);
    const migrated = await sluice(["migrate", "--from", embedded.dataDir], embedded.dataDir, {
      SLUICE_DATABASE_URL: empty.url,
    });
    expect([migrated.status, migrated.stderr]).toEqual([0, ""]);
    expect(migrated.stdout).toContain(
      `the database refuses an entry of an earlier run; setting it aside ${attemptIdOf(1)}`,
    );
    expect(readFileSync(setAsidePath(journal), "utf8")).toContain(attemptIdOf(1));
    rmSync(journal, { recursive: true });
    expect(migrated.stdout).toContain("rows and costs of every month match");
    expect(digest()).toBe(before);
    await expect(move(empty.url)).rejects.toThrow("holds an installation already");
    await using other = await emptyPostgres();
    await expect(move(other.url)).rejects.toThrow(
      /^This installation moved to PostgreSQL .* both would accept the same keys\.$/,
    );

    const control = await openControl(environment);
    const { rows } = await sql<{ object: string; actor: string; after: string }>`
      select object, actor, after from audit_log where at = 1`.execute(control.database.kysely);
    expect(rows).toEqual([{ object: "a\uFFFDb", actor: 'a "quoted", {braced} \\ one', after: "" }]);
    expect((await control.ledgerStore.check()).faults).toEqual([]);
    expect((await control.ledgerStore.page({}, null, 1_000)).entries as unknown).toEqual(entriesBefore);
    expect(await control.people.administratorExists()).toBe(true);
    // Daily sums are computed from the moved rollups.
    const summed = await control.database.kysely.selectFrom("summed_days").selectAll().execute();
    expect(summed).toEqual([]);
    expect(await control.ledgerStore.sumDay(Date.now() + 3 * 86_400_000)).toBe(1);
    expect((await control.ledgerStore.check()).faults).toEqual([]);
    const { rows: next } = await sql<{ next: number }>`
      select nextval(pg_get_serial_sequence('audit_log', 'seq')) as next`.execute(control.database.kysely);
    expect(next).toEqual([{ next: 5_001 }]);
    await control.close();

    const moved = await startGateway({ environment: { ...environment, port: 0, logLevel: "error" } });
    try {
      expect(await usageOf(moved)).toBe(usageBefore);
      expect((await moved.chat(hello, { script: { tokens: 2 } })).status).toBe(200);
      expect(await moved.entries()).toHaveLength((entriesBefore as unknown[]).length + 1);
      const groups = (await (await moved.get("/v1/asset-groups?platform=local")).json()) as {
        data: { name: string }[];
      };
      expect(groups.data.map(({ name }) => name)).toEqual(["faces"]);
      const video = (await (await moved.get(`/v1/videos/${videoId}`)).json()) as { id: string; model: string };
      expect(video).toMatchObject({ id: videoId, model: "film" });
      // A stored response is found by its account, which is in its entry.
      expect((await moved.entries()).map(({ upstreamId }) => upstreamId)).toContain(responseId);
    } finally {
      await moved.stop();
    }
  });

  test("afterwards the old folder does not start, names its successor, and works again when the mark is removed", async () => {
    await using empty = await emptyPostgres();
    const paths = dataPaths(embedded.dataDir);
    rmSync(paths.moved, { force: true });
    const run = (line: string) => sluice(line.split(" "), embedded.dataDir);
    expect((await run("workspace list")).status).toBe(0);
    expect(await move(empty.url)).toMatchObject({ marked: true });
    for (const line of ["workspace list", "migrate", "serve"]) {
      const { status, stderr } = await run(line);
      expect([status, stderr.trim().split("\n")]).toEqual([
        1,
        [expect.stringContaining("This installation moved to ")],
      ]);
      expect(stderr).toContain("at 2026-11-22T00:00:00.000Z: set SLUICE_DATABASE_URL");
      expect(stderr).toContain(`remove ${paths.moved}`);
    }
    expect((await run("doctor")).stdout).toContain("fail  database: This installation moved to PostgreSQL");
    rmSync(paths.moved);
    expect((await run("workspace list")).status).toBe(0);
  });

  test("a database with tables of another program is refused with their names, and stays unchanged", async () => {
    await using used = await emptyPostgres();
    const { moved } = dataPaths(embedded.dataDir);
    rmSync(moved, { force: true });
    await asOwner(used.url, async (client) => void (await client.query("create table invoices (id int)")));
    await expect(move(used.url)).rejects.toThrow("This database has tables of another program (invoices)");
    const { rows } = await asOwner(used.url, (client) =>
      client.query("select table_name from information_schema.tables where table_schema = 'public'"),
    );
    expect(rows).toEqual([{ table_name: "invoices" }]);
  });

  test("a move killed at any table can be repeated, and both sides have the same sums", async () => {
    await using empty = await emptyPostgres();
    const before = digest();
    const environment = { ...bareEnvironment(), SLUICE_DATA_DIR: embedded.dataDir, SLUICE_DATABASE_URL: empty.url };
    const start = () => {
      const child = Bun.spawn([...commandOf(programs.cli), "migrate", "--from", embedded.dataDir, "--json"], {
        env: environment,
        stdout: "pipe",
        stderr: "pipe",
      });
      const ended = Promise.all([child.exited, child.stderr.text(), child.stdout.text()]);
      return { child, ended };
    };
    const ask = <Row extends object>(text: string): Promise<readonly Row[]> =>
      asOwner(empty.url, async (client) => (await client.query(text)).rows as Row[]);
    // While it creates the tables.
    const early = start();
    const connections = `from pg_stat_activity
      where application_name = 'sluice' and datname = current_database()`;
    await until(async () => (await ask(`select 1 ${connections}`)).length > 0);
    early.child.kill("SIGKILL");
    await early.ended;
    await until(async () => (await sluice(["migrate"], embedded.dataDir, environment)).status === 0);
    for (const table of ["api_keys", "tasks", "ledger_entries", "usage_rollups", "settings"]) {
      await asOwner(empty.url, async (holder) => {
        await holder.query("select pg_advisory_lock(42)");
        await holder.query(`create function held() returns trigger language plpgsql as
          $$ begin perform pg_advisory_xact_lock_shared(42); return null; end $$`);
        await holder.query(`create trigger held before insert on ${table} for each statement execute function held()`);
        const { child, ended } = start();
        const waits = `select 1 from pg_locks where locktype = 'advisory' and objid = 42 and not granted
          and database = (select oid from pg_database where datname = current_database())`;
        await until(async () => {
          // It cannot get past this table, as its error explains.
          if (child.exitCode !== null) throw new Error(`ended: ${JSON.stringify(await ended)}`);
          return (await holder.query(waits)).rows.length > 0;
        });
        child.kill("SIGKILL");
        await ended;
        // Its locks are released when the server notices that it is gone.
        await holder.query(`select pg_terminate_backend(pid) ${connections}`);
        await until(async () => (await holder.query(`select 1 ${connections}`)).rows.length === 0);
        await holder.query("drop function held() cascade");
      });
      const control = openControl({
        ...readEnvironment({ SLUICE_DATA_DIR: embedded.dataDir }),
        databaseUrl: new Secret(empty.url),
      });
      await expect(control).rejects.toThrow("run `sluice migrate --from <folder>` to its end first");
    }
    const [status, stderr, stdout] = await start().ended;
    expect([status, stderr]).toEqual([0, ""]);
    const { rows, marked } = JSON.parse(stdout) as { rows: number; marked: boolean };
    expect([rows > 50, marked, digest() === before]).toEqual([true, true, true]);
    rmSync(dataPaths(embedded.dataDir).moved);
    const source = openDatabase({ path: dataPaths(embedded.dataDir).database });
    for (const table of ["ledger", "usage_rollups", "tasks", "api_keys", "task_materials", "asset_groups"]) {
      const money = /ledger|usage/.test(table) ? "cast(coalesce(sum(cost_nano_usd), 0) as text)" : "'0'";
      const query = `select cast(count(*) as text) as count, ${money} as money from ${table}`;
      const here = (await sql.raw(query).execute(source.kysely)).rows;
      expect([table, await ask(query)]).toEqual([table, here as object[]]);
    }
    await source.close();
    const verified = await sluice(["ledger", "verify"], embedded.dataDir, environment);
    expect(verified.stdout).toContain("no errors found");
  });

  test("refuses a source that is in use, missing or has another key, and a missing address, in one line each", async () => {
    await using empty = await emptyPostgres();
    const line = async (folder: string, variables: Readonly<Record<string, string>>) =>
      (await sluice(["migrate", "--from", folder], embedded.dataDir, variables)).stderr.trim();
    const there = { SLUICE_DATABASE_URL: empty.url };
    const held = openJournalDirectory(dataPaths(embedded.dataDir).journal);
    expect(await line(embedded.dataDir, there)).toContain("Another gateway runs on the data directory");
    held.release();
    expect(await line(join(embedded.dataDir, "nothing"), there)).toContain("There is no installation to move in");
    const other = { ...there, SLUICE_MASTER_KEY: "another master key of more than thirty-two characters" };
    expect(await line(embedded.dataDir, other)).toContain("another master key");
    expect(await line(embedded.dataDir, {})).toContain("SLUICE_DATABASE_URL");
  });
});
