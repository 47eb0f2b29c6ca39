import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TruthRecord } from "@sluice/simulator";
import { until } from "../until.ts";
import { AdminClient, administratorEnvironment } from "./admin-client.ts";
import { runChild } from "./child.ts";
import { judgeLedger } from "./judge-ledger.ts";
import { KillLoad } from "./kill-load.ts";
import { exportLedger } from "./ledger-rows.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { startSimulator } from "./start-simulator.ts";
import { keys, testConfig } from "./test-config.ts";
import { VideoClient, videoSetupConfig } from "./video-setup.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-other-program-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** SQLite's command line shell, if it is installed. */
const sqlite3 = Bun.which("sqlite3");
const callsMin = 50;
const kernelListsLocks = existsSync("/proc/locks");
if (!kernelListsLocks) console.log("skipped: checking the locks, because /proc/locks does not exist");

test("another program may read and copy the database in use without data loss, even with kill -9 afterwards", async () => {
  const truthFile = join(folder, "truth.jsonl");
  const simulator = await startSimulator({ truthFile });
  const videos = videoSetupConfig(simulator.url);
  const chats = testConfig(simulator.url);
  const gateway = await startGateway({
    config: {
      providers: [...(chats.providers ?? []), ...(videos.providers ?? [])],
      models: [...(chats.models ?? []), ...(videos.models ?? [])],
      workspaces: [{ slug: "acme", keys: [{ name: "main", secret: keys.main, limits: { concurrency: 10_000 } }] }],
    },
    env: administratorEnvironment,
  });
  try {
    const load = new KillLoad([gateway.url], { clients: 8, abortShare: 0, seed: 7 });
    const loaded = load.run();
    await readFromOtherProgram(gateway, 4);
    await expectLock(gateway);

    // Rows created now must survive the kill, although the other program is reading.
    const admin = await AdminClient.signIn(gateway.url);
    const { secret: token } = await admin.json("POST", "/api/tokens", { name: "script", administrator: true });
    const { secret: key } = await admin.json("POST", "/api/workspaces/acme/keys", { name: "later" });
    const order = {
      model: "clip",
      prompt: 'a boat on a lake [[sim {"queued_ms":600000}]]',
      ratio: "16:9",
      duration: 5,
      resolution: "720p",
    };
    const created = await new VideoClient(gateway.url).post("/v1/video/tasks", order, { "idempotency-key": "boat" });
    expect(created.status).toBe(200);
    // On a slow machine the gateway may answer before the vendor has the task, and would then send it after the restart.
    await until(async () => (await simulator.tasks()).length > 0);
    await readFromOtherProgram(gateway, 8);
    await expectLock(gateway);
    const more = await admin.json("POST", "/api/workspaces/acme/keys", { name: "last" });
    // On a fast machine there may not be enough calls yet.
    await until(() => load.made > callsMin);
    load.stop();
    const calls = await loaded;
    await gateway.kill9();
    await gateway.restart();

    const later = AdminClient.withToken(gateway.url, String(token));
    expect((await later.call("GET", "/api/users")).status).toBe(200);
    for (const secret of [key, more["secret"]]) {
      const models = await fetch(`${gateway.url}/v1/models`, { headers: { "x-api-key": String(secret) } });
      expect(models.status).toBe(200);
    }
    const again = await new VideoClient(gateway.url).post("/v1/video/tasks", order, { "idempotency-key": "boat" });
    expect(again).toMatchObject({ status: 200, body: { task_id: created.body["task_id"] } });
    expect(await simulator.tasks()).toHaveLength(1);

    await simulator.settled();
    await gateway.stop();
    const rows = (await exportLedger(gateway)).filter(({ model }) => model === "gpt-test");
    const truth = readFileSync(truthFile, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line): TruthRecord => JSON.parse(line))
      .filter(({ model }) => model === "up-test");
    expect(truth.length).toBeGreaterThan(callsMin);
    expect(judgeLedger({ truth, rows, calls })).toMatchObject({ faults: [], missing: 0, duplicates: 0 });
    expect((await gateway.cli("ledger", "verify")).status).toBe(0);
  } finally {
    await gateway.remove();
    await simulator.stop();
  }
});

/** Another program opens, reads, copies and closes the database this many times; SQLite's shell copies it once, if installed. */
async function readFromOtherProgram(gateway: Gateway, rounds: number): Promise<void> {
  const database = join(gateway.dataDir, "sluice.db");
  const result = await runChild(
    "test/acceptance/other-program.ts",
    [database, join(folder, "copy.db"), String(rounds)],
    {},
  );
  expect(result).toEqual({ status: 0, stdout: "", stderr: "" });
  if (sqlite3 === null) return;
  const copied = Bun.spawnSync([
    sqlite3,
    "-cmd",
    ".timeout 10000",
    database,
    `.backup ${join(folder, "shell-copy.db")}`,
  ]);
  expect([copied.exitCode, copied.stderr.toString()]).toEqual([0, ""]);
}

/**
 * Checks in the kernel's list that the gateway's process still locks its database. A lost lock stays lost, but the kernel returns
 * its list in pieces, and changes to other locks between two pieces can hide one that is held. So finding it once is proof, and
 * otherwise the list is read again.
 */
async function expectLock(gateway: Gateway): Promise<void> {
  if (!kernelListsLocks) return;
  const inode = statSync(join(gateway.dataDir, "sluice.db")).ino;
  await until(() =>
    readFileSync("/proc/locks", "utf8")
      .split("\n")
      .map((line) => line.split(/\s+/))
      .some((words) => words[4] === String(gateway.pid()) && words[5]?.endsWith(`:${inode}`) === true),
  );
}
