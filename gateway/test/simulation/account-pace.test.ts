import { expect, test } from "bun:test";
import { abortSignalOf } from "#core/index.ts";
import { transportOf } from "../sending-transport.ts";
import {
  arkDeployment,
  catOnRoof,
  createCall,
  entriesOf,
  openTaskSetup,
  openTaskWorld,
  passTime,
  seedance,
  type TaskWorld,
} from "./task-setup.ts";

const one = { ...seedance, deployments: [arkDeployment("first")] };

/** Records when the vendor is asked for a task or for its list. */
function recordPolls({ ark, clock }: TaskWorld) {
  const polls: number[] = [];
  const transport = transportOf((request, signal) => {
    if (request.method === "GET" && request.url.includes("/contents/generations/tasks")) polls.push(clock.now());
    return ark.send(request, abortSignalOf(signal));
  });
  return { polls, transport };
}

/** The highest number of polls within a second. */
function mostPerSecond(polls: readonly number[]): number {
  return Math.max(0, ...polls.map((at) => polls.filter((other) => other >= at && other < at + 1_000).length));
}

async function manyTasks(world: TaskWorld, count: number) {
  const { videos } = openTaskSetup(world, { models: [one] });
  const created = [];
  for (let n = 0; n < count; n++) created.push(await videos.create(createCall(world, catOnRoof, { models: [one] })));
  return created;
}

test("three processes together poll an account no faster than its vendor allows, reads by callers included, and skip no task", async () => {
  await using world = await openTaskWorld(1, { queuedMs: 0, runningMs: 60_000 });
  const { polls, transport } = recordPolls(world);
  const created = await manyTasks(world, 60);
  const processes = [1, 2, 3].map(() => openTaskSetup(world, { models: [one], transport }).videos);
  for (const videos of processes) videos.start();
  for (let second = 0; second < 30; second++) {
    // Callers read tasks whose stored state may be old.
    const reads = processes.flatMap((videos, n) =>
      created.slice(n * 4, n * 4 + 4).map(({ id }) => videos.get("ws_1", id)),
    );
    await passTime(world.clock, 1_000, 100);
    await passTime(world.clock, 2_000, 500);
    await Promise.all(reads);
  }
  expect(mostPerSecond(polls)).toBe(5);
  expect([...world.ark.tasks.values()].filter(({ polls: own }) => own === 0)).toEqual([]);
  await passTime(world.clock, 60_000, 250);
  expect((await entriesOf(world)).length).toBe(60);
  expect(mostPerSecond(polls)).toBe(5);
  await Promise.all(processes.map((videos) => videos.stop()));
});

test("keeps the pace when another process takes over, and after all processes were down", async () => {
  await using world = await openTaskWorld(2, { queuedMs: 0, runningMs: 400_000 });
  const { polls, transport } = recordPolls(world);
  await manyTasks(world, 80);
  const first = openTaskSetup(world, { models: [one], transport }).videos;
  first.start();
  await passTime(world.clock, 6_000, 100);
  // Everything that it had in memory is lost.
  await first.stop();
  const second = openTaskSetup(world, { models: [one], transport }).videos;
  second.start();
  await passTime(world.clock, 20_000, 100);
  await second.stop();
  // No process runs for ten minutes, and all reserved poll times pass.
  world.clock.advance(600_000);
  const third = openTaskSetup(world, { models: [one], transport }).videos;
  const fourth = openTaskSetup(world, { models: [one], transport }).videos;
  third.start();
  fourth.start();
  await passTime(world.clock, 60_000, 100);
  expect(mostPerSecond(polls)).toBe(5);
  expect((await entriesOf(world)).length).toBe(80);
  await Promise.all([third.stop(), fourth.stop()]);
});

test("looks up tasks of a dead process in the vendor's list at the same pace", async () => {
  await using world = await openTaskWorld(3);
  const { polls, transport } = recordPolls(world);
  const created = await manyTasks(world, 20);
  // The state of tasks whose process was killed while it sent them.
  await world.database.kysely
    .updateTable("tasks")
    .set({ state: "submitting", upstream_id: null, due_at: world.clock.now() })
    .execute();
  const { videos } = openTaskSetup(world, { models: [one], transport });
  videos.start();
  await passTime(world.clock, 10_000, 100);
  expect(polls.length).toBeGreaterThanOrEqual(created.length);
  expect(mostPerSecond(polls)).toBe(5);
  await videos.stop();
});

test(`does not end a task after a "no such task" that another process has since seen contradicted`, async () => {
  let isMissing = true;
  await using world = await openTaskWorld(4, {
    queuedMs: 0,
    runningMs: 10_000_000,
    poll: () => (isMissing ? { status: 404, code: "ResourceNotFound" } : null),
  });
  const [created] = await manyTasks(world, 1);
  const runFor = async (ms: number): Promise<void> => {
    const { videos } = openTaskSetup(world, { models: [one] });
    videos.start();
    await passTime(world.clock, ms, 1_000);
    await videos.stop();
  };
  const first = openTaskSetup(world, { models: [one] }).videos;
  first.start();
  await passTime(world.clock, 60_000, 1_000);
  await first.stop();
  isMissing = false;
  await runFor(60_000);
  isMissing = true;
  await runFor(550_000);
  expect(await world.taskStore.findById(created?.id ?? "")).toMatchObject({ finishedAt: null });
  // After ten minutes in which every poll reports a missing task, the task ends.
  await runFor(120_000);
  expect(await world.taskStore.findById(created?.id ?? "")).toMatchObject({
    state: "failed",
    error: { code: "task_gone" },
  });
});
