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

/** SQLite's own shell, where there is one. */
const shell = Bun.which("sqlite3");
const callsMin = 50;
const kernelListsLocks = existsSync("/proc/locks");
if (!kernelListsLocks) console.log("not looked at: the locks themselves, because there is no /proc/locks here");

test("another program may read and copy the database in use: nothing written later is lost, even by kill -9", async () => {
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
    await lookIn(gateway, 4);
    await lockSeen(gateway);

    // What is made now must outlive the process, whatever the other program does meanwhile.
    const admin = await AdminClient.signIn(gateway.url);
    const { secret: token } = await admin.tell("POST", "/api/tokens", { name: "script", administrator: true });
    const { secret: key } = await admin.tell("POST", "/api/workspaces/acme/keys", { name: "later" });
    const order = {
      model: "clip",
      prompt: 'a boat on a lake [[sim {"queued_ms":600000}]]',
      ratio: "16:9",
      duration: 5,
      resolution: "720p",
    };
    const made = await new VideoClient(gateway.url).post("/v1/video/tasks", order, { "idempotency-key": "boat" });
    expect(made.status).toBe(200);
    // A slow machine answers before its vendor has it: then it is sent after the restart, and not yet when it is counted.
    await until(async () => (await simulator.tasks()).length > 0);
    await lookIn(gateway, 8);
    await lockSeen(gateway);
    const more = await admin.tell("POST", "/api/workspaces/acme/keys", { name: "last" });
    // A fast machine has looked in before there was much to lose.
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
    expect(again).toMatchObject({ status: 200, body: { task_id: made.body["task_id"] } });
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
    expect(judgeLedger({ truth, rows, calls })).toMatchObject({ faults: [], missing: 0, doubled: 0 });
    expect((await gateway.cli("ledger", "verify")).status).toBe(0);
  } finally {
    await gateway.remove();
    await simulator.stop();
  }
});

/** A second program opens, reads, copies and closes the database, so many times; and SQLite's shell does, if installed. */
async function lookIn(gateway: Gateway, rounds: number): Promise<void> {
  const database = join(gateway.dataDir, "sluice.db");
  const looked = await runChild(
    "test/acceptance/other-program.ts",
    [database, join(folder, "copy.db"), String(rounds)],
    {},
  );
  expect(looked).toEqual({ status: 0, stdout: "", stderr: "" });
  if (shell === null) return;
  const copied = Bun.spawnSync([shell, "-cmd", ".timeout 10000", database, `.backup ${join(folder, "shell-copy.db")}`]);
  expect([copied.exitCode, copied.stderr.toString()]).toEqual([0, ""]);
}

/**
 * Looks for the lock of the gateway's process on its database, as the kernel has it. One that is lost stays lost; but the
 * kernel tells of its locks in pieces, and what others lock and unlock between two pieces hides one that is held. So a
 * look that finds it proves it, and one that does not is made again.
 */
async function lockSeen(gateway: Gateway): Promise<void> {
  if (!kernelListsLocks) return;
  const inode = statSync(join(gateway.dataDir, "sluice.db")).ino;
  await until(() =>
    readFileSync("/proc/locks", "utf8")
      .split("\n")
      .map((line) => line.split(/\s+/))
      .some((words) => words[4] === String(gateway.pid()) && words[5]?.endsWith(`:${inode}`) === true),
  );
}
