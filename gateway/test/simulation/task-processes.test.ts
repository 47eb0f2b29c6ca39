import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveSimulator } from "@sluice/simulator";
import { bounds, finalTaskStates, type LedgerEntry, type Task } from "#core/index.ts";
import { createLedgerStore, openVault } from "#storage/index.ts";
import { createTaskStore } from "#tasks/index.ts";
import { until } from "../../../test/until.ts";
import { openMigrated } from "../migrated.ts";
import { fastClock } from "./fast-clock.ts";
import { openTaskProcess, placeOrders } from "./task-process.ts";
import { alice, budgetUsed } from "./task-setup.ts";

const ordersTotal = 120;
const times = 60;
const from = Date.now();

test("creates one vendor task and one entry per order with three processes, of which one is killed and one stopped past its lease", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-processes-"));
  const simulator = serveSimulator();
  const database = await openMigrated(join(dataDir, "sluice.db"));
  const vault = openVault({ masterKey: null, dataDir });
  const taskStore = createTaskStore({ database, vault });
  const allTasks = async (): Promise<readonly Task[]> =>
    (await taskStore.page({ workspaceId: alice.workspace.id }, null, 1_000)).tasks;
  const open = async (): Promise<number> =>
    (await allTasks()).filter(({ state }) => !finalTaskStates.has(state)).length;
  const start = (orders: readonly number[]) => startProcess({ dataDir, baseUrl: simulator.url, from, times, orders });
  const share = (index: number) => Array.from({ length: ordersTotal / 3 }, (_, n) => n * 3 + index);
  const processes = [0, 1, 2].map((index) => start(share(index)));
  const [killed, stopped, steady] = processes;
  if (killed === undefined || stopped === undefined || steady === undefined)
    throw new Error("three processes must be started");
  try {
    await until(async () => (await allTasks()).length >= ordersTotal / 3);
    stopped.child.kill("SIGSTOP");
    await Bun.sleep((bounds.taskLeaseMs / times) * 0.5);
    killed.child.kill("SIGKILL");
    const replacement = start(share(0));
    processes.push(replacement);
    await Bun.sleep((bounds.taskSubmitLeaseMs / times) * 1.1);
    stopped.child.kill("SIGCONT");
    for (const { output } of [stopped, steady, replacement]) await until(() => output().includes("placed"));
    // An order whose process was killed between storing and sending it may have been sent, so it is not sent again.
    const countOpenAtVendor = async (): Promise<number> => (await allTasks()).filter(isKnownOpen).length;
    await until(async () => (await countOpenAtVendor()) === 0);
    await until(async () => (await open()) <= callersOfOne);

    // Their deadlines pass. A new process places every order again and finds all of them.
    const later = fastClock(from, times, 3 * 3_600_000);
    const last = await openTaskProcess(database, { dataDir, baseUrl: simulator.url }, later);
    const orders = Array.from({ length: ordersTotal }, (_, order) => order);
    // An order that was blocked by the stopped process in the middle of a write is now created, and may be rejected.
    await placeOrders(last, orders);
    const ids = await placeOrders(last, orders);
    await until(async () => (await open()) === 0);
    for (const { child } of [stopped, steady, replacement]) child.stdin.write("stop\n");
    for (const { child, output } of [stopped, steady, replacement]) {
      expect(await child.exited, output().join("\n")).toBe(0);
      expect(output().at(-1)).toBe("[0,0,0,0]");
    }
    await until(() => last.videos.held === 0);

    const tasks = await allTasks();
    expect(tasks).toHaveLength(ordersTotal);
    expect([...ids.values()].filter((id) => !tasks.some((task) => task.id === id))).toEqual([]);
    expect(new Set(ids.values()).size).toBe(ordersTotal);
    const vendorTasks = simulator.simulator.tasks.list().data;
    expect(vendorTasks.filter(({ creates_of_attempt }) => creates_of_attempt !== 1)).toEqual([]);
    const ledgerStore = createLedgerStore(database);
    const { entries } = await ledgerStore.page({}, null, 1_000);
    expect((await ledgerStore.check()).faults).toEqual([]);
    const byAttempt = new Map(entries.map((entry) => [entry.attemptId, entry]));
    expect([entries.length, byAttempt.size]).toEqual([ordersTotal, ordersTotal]);
    expect(vendorTasks.length).toBeGreaterThan(ordersTotal / 2);
    for (const { attempt_id, tokens, state, answer_lost } of vendorTasks) {
      const actual = charged(byAttempt.get(attempt_id ?? ""));
      // Ten USD per million tokens, whatever was lost.
      expect([attempt_id, answer_lost, actual]).toEqual([
        attempt_id,
        answer_lost,
        state === "succeeded" ? `succeeded ${tokens} ${tokens * 10_000}` : "failed 0 0",
      ]);
    }
    expect(vendorTasks.filter(({ answer_lost, state }) => answer_lost && state === "succeeded").length).toBeGreaterThan(
      10,
    );
    const total = entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    // Other processes count what they settled. No reservation remains.
    expect(Math.round((await budgetUsed(last)) * 1e9)).toBeLessThanOrEqual(total);
    expect(tasks.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0)).toBe(total);
    await last.videos.stop();
  } finally {
    for (const { child } of processes) child.kill("SIGKILL");
    simulator.stop();
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

const callersOfOne = 8;

function isKnownOpen({ state, upstreamId }: Task): boolean {
  return !finalTaskStates.has(state) && (upstreamId !== null || state === "accepted" || state === "submitting");
}

function charged(entry: LedgerEntry | undefined): string {
  return `${entry?.outcome} ${entry?.usage.output} ${entry?.costNanoUsd}`;
}

function startProcess(setup: object) {
  const program = join(import.meta.dir, "run-task-process.ts");
  const child = Bun.spawn([process.execPath, program, JSON.stringify(setup)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  let printed = "";
  void (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) printed += decoder.decode(bytes, { stream: true });
  })();
  return { child, output: () => printed.trim().split("\n") };
}
