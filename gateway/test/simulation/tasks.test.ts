import { describe, expect, test } from "bun:test";
import { bounds, finalTaskStates, type Task } from "#core/index.ts";
import type { VideoTasks } from "#tasks/index.ts";
import { KillableProcess } from "./killable-process.ts";
import { seededChance } from "./seeded-chance.ts";
import type { Fault } from "./simulated-ark.ts";
import {
  arkDeployment,
  arkProvider,
  createCall,
  openTaskSetup,
  openTaskWorld,
  passTime,
  seedance,
  settleDown,
  type TaskSetup,
  type TaskWorld,
} from "./task-setup.ts";

/** `SLUICE_TASK_SEEDS=20` plays twenty seeds. */
const seeds = Array.from({ length: Number(process.env["SLUICE_TASK_SEEDS"] ?? 1) }, (_, index) => index + 1);
const tasksPerSeed = 50;
const processes = 3;
const oneUsd = 1_000_000_000;

interface Process extends TaskSetup {
  readonly killable: KillableProcess;
}

/** Two accounts that mark their tasks, so that a lost task can be identified. */
const model = {
  ...seedance,
  deployments: ["first", "second"].map((id, index) =>
    arkDeployment(id, index + 1, { provider: arkProvider(id, { settings: { mark_tasks: true } }) }),
  ),
};

async function startProcess(world: TaskWorld): Promise<Process> {
  const killable = new KillableProcess();
  const gateway = openTaskSetup(world, {
    models: [model],
    clock: killable.clock(world.clock),
    transport: killable.transport(world.ark),
    store: killable.store(world.taskStore),
  });
  await gateway.videos.restoreHolds();
  gateway.videos.start();
  return { ...gateway, killable };
}

/**
 * A day in which everything goes wrong: the vendor is slow, fails, cuts off and forgets, and processes are stopped and
 * killed.
 */
async function play(seed: number) {
  const chance = seededChance(seed);
  const world = await openTaskWorld(seed);
  const fault = (kinds: readonly (readonly [number, Fault])[]): Fault | null => {
    let lot = chance.unit();
    for (const [share, kind] of kinds) {
      if (lot < share) return kind;
      lot -= share;
    }
    return null;
  };
  world.ark.behavior = {
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
  for (let index = 0; index < processes; index++) running.push(await startProcess(world));
  const all = [...running];
  const replace = async (index: number): Promise<void> => {
    running[index]?.killable.kill();
    running[index] = await startProcess(world);
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
      void videos?.create(createCall(world, body, { models: [model] })).catch(() => undefined);
    }
    if (chance.unit() < 0.04) await replace(Math.floor(chance.unit() * processes));
    if (chance.unit() < 0.04) pause(running[Math.floor(chance.unit() * processes)], world, chance.unit());
    if (chance.unit() < 0.3) await hintTwice(world, running[0]?.videos, chance.unit());
    await passTime(world.clock, 1_000, 500);
  }
  await passTime(world.clock, 900_000, 3_000);
  for (const process of running) process.killable.resume();
  // After every deadline. Each step lets one poll per account through, so longer steps would only delay polls.
  await passTime(world.clock, 3_600_000, 5_000);
  await passTime(world.clock, 60_000, 2_000);

  const tasks = await everyTask(world);
  const { entries } = await world.ledgerStore.page({}, null, 1_000);
  const check = await world.ledgerStore.check();
  const deliveries = (await Promise.all(tasks.map(({ id }) => world.taskStore.deliveries(id)))).flat();
  await Promise.all(running.map(({ videos }) => videos.stop()));
  return { world, tasks, entries, check, deliveries, running, accepted };

  function callback() {
    return chance.unit() < 0.5 ? { callback_url: "https://caller.example/hook" } : {};
  }
}

/** Sometimes longer than the lease, so that another process takes over before the stopped one continues. */
function pause(process: Process | undefined, world: TaskWorld, unit: number): void {
  process?.killable.stop();
  world.clock.after(1_000 + unit ** 2 * 2 * bounds.taskSubmitLeaseMs, () => process?.killable.resume());
}

/** Callbacks arrive twice, and also without a change. */
async function hintTwice(world: TaskWorld, videos: VideoTasks | undefined, unit: number): Promise<void> {
  const made = [...world.ark.tasks.values()];
  const one = made[Math.floor(unit * made.length)];
  const [taskId = "", token = ""] = one?.callbackUrl?.split("/").slice(-2) ?? [];
  const body = new TextEncoder().encode(JSON.stringify({ id: one?.id }));
  for (let copy = 0; copy < 2; copy++) void videos?.handleCallback(taskId, decodeURIComponent(token), async () => body);
  await settleDown();
}

async function everyTask(world: TaskWorld): Promise<readonly Task[]> {
  return (await world.taskStore.page({ workspaceId: "ws_1" }, null, 1_000)).tasks;
}

describe("a day of video tasks with an unreliable vendor, and processes that are stopped, killed and replaced", () => {
  test.each(seeds)(
    "seed %d: one task at the vendor and one settlement per task, nothing lost or reserved, and the same costs on both sides",
    async (seed) => {
      const { world, tasks, entries, check, deliveries, running, accepted } = await play(seed);
      await using _ = world;
      // A process that is stopped or killed while it is called accepts no task.
      expect(tasks.length).toBeGreaterThan(accepted / 3);
      expect(tasks.filter(({ state }) => !finalTaskStates.has(state))).toEqual([]);

      // No task is created twice: the vendor has at most one per task, and none without a task.
      const made = [...world.ark.tasks.values()];
      expect(new Set(made.map(({ attemptId }) => attemptId)).size).toBe(made.length);
      const owners = new Map(tasks.map(({ upstreamId, attemptId }) => [upstreamId, attemptId]));
      // A task that the vendor forgot before the gateway knew its id cannot be found, and is not billed.
      const findable = made.filter(({ id }) => owners.has(id) || world.ark.state(id) !== "vanished");
      expect(findable.map(({ id }) => [id, owners.get(id)])).toEqual(
        findable.map(({ id, attemptId }) => [id, attemptId]),
      );

      // Each task is settled once, with what the vendor bills.
      expect(entries.map(({ attemptId }) => attemptId).toSorted()).toEqual(
        tasks.map(({ attemptId }) => attemptId).toSorted(),
      );
      const billed = made.filter(({ id }) => world.ark.state(id) === "succeeded").length * oneUsd;
      const measured = entries.filter(({ usageSource }) => usageSource === "upstream");
      expect(measured.reduce((sum, entry) => sum + entry.costNanoUsd, 0)).toBe(billed);
      expect(entries.reduce((sum, entry) => sum + entry.costNanoUsd, 0)).toBe(
        tasks.reduce((sum, task) => sum + (task.costNanoUsd ?? 0), 0),
      );
      expect(check.faults).toEqual([]);

      // Failed, expired and unsent tasks are free. All others whose end is unknown are estimated.
      const estimated = new Set(entries.filter((entry) => entry.usageSource === "estimated").map((e) => e.attemptId));
      for (const task of tasks) {
        const verdict = task.upstreamId === null ? null : world.ark.state(task.upstreamId);
        const isUnknown = verdict === "vanished" || (task.state === "expired" && verdict !== "expired");
        const sent = task.submittedAt !== null;
        expect([task.id, estimated.has(task.attemptId)]).toEqual([task.id, isUnknown && sent]);
      }

      // A reservation is released only after the vendor's result, a refusal or the deadline.
      for (const task of tasks) {
        const verdict = task.upstreamId === null ? null : world.ark.state(task.upstreamId);
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
