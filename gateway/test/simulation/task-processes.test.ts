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

test("three processes on one database, one killed and one stopped past its lease: a vendor's task and an entry for each", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-processes-"));
  const simulator = serveSimulator();
  const database = await openMigrated(join(dataDir, "sluice.db"));
  const vault = openVault({ masterKey: null, dataDir });
  const taskStore = createTaskStore({ database, vault });
  const every = async (): Promise<readonly Task[]> =>
    (await taskStore.page({ workspaceId: alice.workspace.id }, null, 1_000)).tasks;
  const open = async (): Promise<number> => (await every()).filter(({ state }) => !finalTaskStates.has(state)).length;
  const start = (orders: readonly number[]) => startProcess({ dataDir, baseUrl: simulator.url, from, times, orders });
  const share = (index: number) => Array.from({ length: ordersTotal / 3 }, (_, n) => n * 3 + index);
  const processes = [0, 1, 2].map((index) => start(share(index)));
  const [dies, stops, stays] = processes;
  if (dies === undefined || stops === undefined || stays === undefined) throw new Error("three processes");
  try {
    await until(async () => (await every()).length >= ordersTotal / 3);
    stops.child.kill("SIGSTOP");
    await Bun.sleep((bounds.taskLeaseMs / times) * 0.5);
    dies.child.kill("SIGKILL");
    const follows = start(share(0));
    processes.push(follows);
    await Bun.sleep((bounds.taskSubmitLeaseMs / times) * 1.1);
    stops.child.kill("SIGCONT");
    for (const { said } of [stops, stays, follows]) await until(() => said().includes("placed"));
    // What was killed between its note and its sending may have been sent or not: nobody can know, and it is not sent.
    const left = async (): Promise<number> => (await every()).filter(isKnownOpen).length;
    await until(async () => (await left()) === 0);
    await until(async () => (await open()) <= callersOfOne);

    // Their deadlines pass. A process that starts then places every order again, and finds them all.
    const later = fastClock(from, times, 3 * 3_600_000);
    const last = await openTaskProcess(database, { dataDir, baseUrl: simulator.url }, later);
    const orders = Array.from({ length: ordersTotal }, (_, order) => order);
    // What a process that stood still in the middle of a writing kept from being taken is made, and may be refused, now.
    await placeOrders(last, orders);
    const ids = await placeOrders(last, orders);
    await until(async () => (await open()) === 0);
    for (const { child } of [stops, stays, follows]) child.stdin.write("stop\n");
    for (const { child, said } of [stops, stays, follows]) {
      expect(await child.exited, said().join("\n")).toBe(0);
      expect(said().at(-1)).toBe("[0,0,0,0]");
    }
    await until(() => last.videos.held === 0);

    const tasks = await every();
    expect(tasks).toHaveLength(ordersTotal);
    expect([...ids.values()].filter((id) => !tasks.some((task) => task.id === id))).toEqual([]);
    expect(new Set(ids.values()).size).toBe(ordersTotal);
    const made = simulator.simulator.tasks.list().data;
    expect(made.filter(({ creates_of_attempt }) => creates_of_attempt !== 1)).toEqual([]);
    const ledgerStore = createLedgerStore(database);
    const { entries } = await ledgerStore.page({}, null, 1_000);
    expect((await ledgerStore.check()).faults).toEqual([]);
    const byAttempt = new Map(entries.map((entry) => [entry.attemptId, entry]));
    expect([entries.length, byAttempt.size]).toEqual([ordersTotal, ordersTotal]);
    expect(made.length).toBeGreaterThan(ordersTotal / 2);
    for (const { attempt_id, tokens, state, answer_lost } of made) {
      const paid = paidFor(byAttempt.get(attempt_id ?? ""));
      // Ten USD for a million tokens, whatever was lost on the way.
      expect([attempt_id, answer_lost, paid]).toEqual([
        attempt_id,
        answer_lost,
        state === "succeeded" ? `succeeded ${tokens} ${tokens * 10_000}` : "failed 0 0",
      ]);
    }
    expect(made.filter(({ answer_lost, state }) => answer_lost && state === "succeeded").length).toBeGreaterThan(10);
    const total = entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    // What the others settled is theirs to count; nothing is held any more.
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

function paidFor(entry: LedgerEntry | undefined): string {
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
  return { child, said: () => printed.trim().split("\n") };
}
