import { describe, expect, test } from "bun:test";
import { bounds, finalTaskStates, type Task } from "#core/index.ts";
import type { VideoTasks } from "#tasks/index.ts";
import { Mortal } from "./mortal.ts";
import type { Fault } from "./pretended-ark.ts";
import { seededChance } from "./seeded-chance.ts";
import {
  arkDeployment,
  arkProvider,
  createCall,
  openTaskSetup,
  openTaskTown,
  passTime,
  seedance,
  settleDown,
  type TaskSetup,
  type TaskTown,
} from "./task-setup.ts";

/** `SLUICE_TASK_SEEDS=20` plays so many. */
const seeds = Array.from({ length: Number(process.env["SLUICE_TASK_SEEDS"] ?? 2) }, (_, index) => index + 1);
const tasksPerSeed = 50;
const processes = 3;
const oneUsd = 1_000_000_000;

interface Process extends TaskSetup {
  readonly mortal: Mortal;
}

/** Two accounts that mark their tasks, so that a lost one can be told from another. */
const model = {
  ...seedance,
  deployments: ["first", "second"].map((id, index) =>
    arkDeployment(id, index + 1, { provider: arkProvider(id, { settings: { mark_tasks: true } }) }),
  ),
};

async function startProcess(town: TaskTown): Promise<Process> {
  const mortal = new Mortal();
  const gateway = openTaskSetup(town, {
    models: [model],
    clock: mortal.clock(town.clock),
    transport: mortal.transport(town.ark),
    store: mortal.store(town.taskStore),
  });
  await gateway.videos.restoreHolds();
  gateway.videos.start();
  return { ...gateway, mortal };
}

/** A day in which everything goes wrong that can: the vendor is slow, ill, cuts, forgets; processes stop and die. */
async function play(seed: number) {
  const chance = seededChance(seed);
  const town = await openTaskTown(seed);
  const fault = (kinds: readonly (readonly [number, Fault])[]): Fault | null => {
    let lot = chance.unit();
    for (const [share, kind] of kinds) {
      if (lot < share) return kind;
      lot -= share;
    }
    return null;
  };
  town.ark.habits = {
    latencyMs: () => 20 + chance.unit() ** 6 * 20_000,
    create: () =>
      fault([
        [0.06, "lost"],
        [0.12, "cut"],
        [0.08, "unreachable"],
        [0.03, { status: 500 }],
        [0.03, { status: 503 }],
        [0.04, { status: 429 }],
        [0.03, { status: 504 }],
        [0.04, { status: 400 }],
      ]),
    poll: () =>
      fault([
        [0.1, { status: 500 }],
        [0.05, { status: 429 }],
        [0.05, "lost"],
      ]),
    list: () => fault([[0.2, { status: 500 }]]),
    queuedMs: 4_000,
    runningMs: 90_000,
    ends: ({ id }) =>
      (["succeeded", "succeeded", "succeeded", "failed", "expired", "vanished"] as const)[Number(id.slice(4)) % 6] ??
      "failed",
  };
  const running: Process[] = [];
  for (let index = 0; index < processes; index++) running.push(await startProcess(town));
  const all = [...running];
  const replace = async (index: number): Promise<void> => {
    running[index]?.mortal.kill();
    running[index] = await startProcess(town);
    all.push(running[index]);
  };

  let accepted = 0;
  for (let second = 0; second < 240; second++) {
    if (accepted < tasksPerSeed && chance.unit() < 0.5) {
      accepted++;
      const body = {
        prompt: `cat ${chance.unit() < 0.5 ? "a" : accepted}`,
        duration: 5,
        execution_expires_after: 60,
        ...callback(),
      };
      const videos = running[Math.floor(chance.unit() * processes)]?.videos;
      void videos?.create(createCall(town, body, { models: [model] })).catch(() => undefined);
    }
    if (chance.unit() < 0.04) await replace(Math.floor(chance.unit() * processes));
    if (chance.unit() < 0.04) pause(running[Math.floor(chance.unit() * processes)], town, chance.unit());
    if (chance.unit() < 0.3) await hintTwice(town, running[0]?.videos, chance.unit());
    await passTime(town.clock, 1_000, 500);
  }
  await passTime(town.clock, 900_000, 3_000);
  for (const process of running) process.mortal.goOn();
  // Past every deadline. A step lets one poll of an account through: with longer ones the rows of polls would only grow.
  await passTime(town.clock, 3_600_000, 5_000);
  await passTime(town.clock, 60_000, 2_000);

  const tasks = await everyTask(town);
  const { entries } = await town.ledgerStore.page({}, null, 1_000);
  const check = await town.ledgerStore.check();
  const deliveries = (await Promise.all(tasks.map(({ id }) => town.taskStore.deliveries(id)))).flat();
  await Promise.all(running.map(({ videos }) => videos.stop()));
  return { town, tasks, entries, check, deliveries, running, accepted };

  function callback() {
    return chance.unit() < 0.5 ? { callback_url: "https://caller.example/hook" } : {};
  }
}

/** Longer than the lease, now and then: another process takes over, and then the stopped one goes on. */
function pause(process: Process | undefined, town: TaskTown, unit: number): void {
  process?.mortal.stop();
  town.clock.after(1_000 + unit ** 2 * 2 * bounds.taskSubmitLeaseMs, () => process?.mortal.goOn());
}

/** Callbacks come twice, and not only when something happened. */
async function hintTwice(town: TaskTown, videos: VideoTasks | undefined, unit: number): Promise<void> {
  const made = [...town.ark.made.values()];
  const one = made[Math.floor(unit * made.length)];
  const [taskId = "", token = ""] = one?.callbackUrl?.split("/").slice(-2) ?? [];
  const body = new TextEncoder().encode(JSON.stringify({ id: one?.id }));
  for (let copy = 0; copy < 2; copy++) void videos?.handleCallback(taskId, decodeURIComponent(token), async () => body);
  await settleDown();
}

async function everyTask(town: TaskTown): Promise<readonly Task[]> {
  return (await town.taskStore.page({ workspaceId: "ws_1" }, null, 1_000)).tasks;
}

describe("a day of video tasks with an ill vendor, and processes that stop, die and come back", () => {
  test.each(seeds)(
    "seed %d: one task at the vendor and one settlement for each, nothing lost, nothing kept, the money the same on both sides",
    async (seed) => {
      const { town, tasks, entries, check, deliveries, running, accepted } = await play(seed);
      await using _ = town;
      // Who is asked while it stands still or dies takes none.
      expect(tasks.length).toBeGreaterThan(accepted / 3);
      expect(tasks.filter(({ state }) => !finalTaskStates.has(state))).toEqual([]);

      // Never made twice: whatever was sent for a task, the vendor has one of it at most, and no task without its own.
      const made = [...town.ark.made.values()];
      expect(new Set(made.map(({ attemptId }) => attemptId)).size).toBe(made.length);
      const owners = new Map(tasks.map(({ upstreamId, attemptId }) => [upstreamId, attemptId]));
      // What the vendor forgot before anybody heard of it cannot be found, and is not billed.
      const findable = made.filter(({ id }) => owners.has(id) || town.ark.state(id) !== "vanished");
      expect(findable.map(({ id }) => [id, owners.get(id)])).toEqual(
        findable.map(({ id, attemptId }) => [id, attemptId]),
      );

      // Settled once, with what the vendor will bill.
      expect(entries.map(({ attemptId }) => attemptId).toSorted()).toEqual(
        tasks.map(({ attemptId }) => attemptId).toSorted(),
      );
      const billed = made.filter(({ id }) => town.ark.state(id) === "succeeded").length * oneUsd;
      const measured = entries.filter(({ usageSource }) => usageSource === "upstream");
      expect(measured.reduce((sum, entry) => sum + entry.costNanoUsd, 0)).toBe(billed);
      expect(entries.reduce((sum, entry) => sum + entry.costNanoUsd, 0)).toBe(
        tasks.reduce((sum, task) => sum + (task.costNanoUsd ?? 0), 0),
      );
      expect(check.faults).toEqual([]);

      // What the vendor called failed or expired is free, and so is what it never got; of the rest nobody said how it ended.
      const guessed = new Set(entries.filter((entry) => entry.usageSource === "estimated").map((e) => e.attemptId));
      for (const task of tasks) {
        const verdict = task.upstreamId === null ? null : town.ark.state(task.upstreamId);
        const silent = verdict === "vanished" || (task.state === "expired" && verdict !== "expired");
        const sent = task.submittedAt !== null;
        expect([task.id, guessed.has(task.attemptId)]).toEqual([task.id, silent && sent]);
      }

      // Nothing is given back without a verdict: what the vendor has ended, a refusal, or the deadline.
      for (const task of tasks) {
        const verdict = task.upstreamId === null ? null : town.ark.state(task.upstreamId);
        if (task.state === "succeeded") expect(verdict).toBe("succeeded");
        if (task.state === "expired" && verdict !== "expired")
          expect(task.finishedAt).toBeGreaterThanOrEqual(task.deadlineAt);
        if (task.state === "failed" && verdict !== null) expect(["failed", "vanished"]).toContain(verdict);
      }
      for (const { videos, admission } of running) {
        expect([videos.held, admission.outstanding, admission.repeatedEndings]).toEqual([0, 0, 0]);
      }
      expect(deliveries.every(({ deliveredAt }) => deliveredAt !== null)).toBe(true);
      expect(deliveries).toHaveLength(tasks.filter(({ callbackUrl }) => callbackUrl !== null).length);
    },
  );
});
