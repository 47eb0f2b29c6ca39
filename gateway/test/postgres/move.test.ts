import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { readEnvironment } from "#config/index.ts";
import { Secret } from "#core/index.ts";
import { createLedgerStore, dataPaths, moveOver, openDatabase, openJournalDirectory } from "#storage/index.ts";
import { openControl } from "../../src/main/control.ts";
import { sluice } from "../command-line.ts";
import { emptyPostgres } from "../postgres-ground.ts";
import { onPostgres } from "../postgres-server.ts";
import { hello, type StartedGateway, startGateway } from "../started-gateway.ts";

await onPostgres("moving an installation over", () => {
  let embedded: StartedGateway;
  let usageBefore = "";
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
    embedded = await startGateway({ environment: { administrator } });
    for (let n = 0; n < 40; n++) {
      const answer = await embedded.chat(hello, { script: n % 8 === 7 ? { status: 400 } : { tokens: 3 + n } });
      await answer.arrayBuffer();
    }
    const group = await embedded.post("/v1/asset-groups", { platform: "local", name: "faces" });
    expect(await group.json()).toMatchObject({ name: "faces" });
    await embedded.gateway.explainer.written();
    entriesBefore = await embedded.entries();
    usageBefore = await usageOf(embedded);
    await embedded.gateway.close();
    // Rows of the ledger of an earlier year, and of odd text.
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
      recoverJournal,
      onTable,
    });

  test("broken off anywhere it leaves nothing that starts, and is run again; then everything is as it was", async () => {
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
    const told = await sluice(["migrate", "--from", embedded.dataDir], embedded.dataDir, {
      SLUICE_DATABASE_URL: empty.url,
    });
    expect([told.status, told.stderr]).toEqual([0, ""]);
    expect(told.stdout).toContain("rows and money of every month are as they were");
    expect(digest()).toBe(before);
    await expect(move(empty.url)).rejects.toThrow("holds an installation already");

    const control = await openControl(environment);
    const { rows } = await sql<{ object: string; actor: string; after: string }>`
      select object, actor, after from audit_log where at = 1`.execute(control.database.kysely);
    expect(rows).toEqual([{ object: "a\uFFFDb", actor: 'a "quoted", {braced} \\ one', after: "" }]);
    expect((await control.ledgerStore.check()).faults).toEqual([]);
    expect((await control.ledgerStore.page({}, null, 1_000)).entries as unknown).toEqual(entriesBefore);
    expect(await control.people.administratorExists()).toBe(true);
    // Sums of days are made from the rollups that came over.
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
    } finally {
      await moved.stop();
    }
  });

  test("a source that a gateway holds, that is none, or of another key, and no address, are one line each", async () => {
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
