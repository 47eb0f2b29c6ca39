import { expect, test } from "bun:test";
import type { OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";
import {
  arkDeployment,
  catOnRoof,
  createCall,
  entriesOf,
  openTaskSetup,
  openTaskTown,
  passTime,
  seedance,
  type TaskTown,
} from "./task-setup.ts";

const one = { ...seedance, deployments: [arkDeployment("first")] };

/** The vendor's side: when it was asked how a task is, or for its list. */
function listening({ ark, clock }: TaskTown) {
  const polls: number[] = [];
  const transport: Transport = {
    send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
      if (request.method === "GET" && request.url.includes("/contents/generations/tasks")) polls.push(clock.now());
      return ark.send(request, signal);
    },
  };
  return { polls, transport };
}

/** The most polls in any second. */
function mostInASecond(polls: readonly number[]): number {
  return Math.max(0, ...polls.map((at) => polls.filter((other) => other >= at && other < at + 1_000).length));
}

async function manyTasks(town: TaskTown, count: number) {
  const { videos } = openTaskSetup(town, { models: [one] });
  const made = [];
  for (let n = 0; n < count; n++) made.push(await videos.create(createCall(town, catOnRoof, { models: [one] })));
  return made;
}

test("three processes together ask an account no more often than its vendor allows, callers that look included, and nobody is passed over", async () => {
  await using town = await openTaskTown(1, { queuedMs: 0, runningMs: 60_000 });
  const { polls, transport } = listening(town);
  const made = await manyTasks(town, 60);
  const processes = [1, 2, 3].map(() => openTaskSetup(town, { models: [one], transport }).videos);
  for (const videos of processes) videos.start();
  for (let second = 0; second < 30; second++) {
    // Callers ask each process for tasks that may be stale.
    const asked = processes.flatMap((videos, n) =>
      made.slice(n * 4, n * 4 + 4).map(({ id }) => videos.get("ws_1", id)),
    );
    await passTime(town.clock, 1_000, 100);
    await passTime(town.clock, 2_000, 500);
    await Promise.all(asked);
  }
  expect(mostInASecond(polls)).toBe(5);
  expect([...town.ark.made.values()].filter(({ polls: own }) => own === 0)).toEqual([]);
  await passTime(town.clock, 60_000, 250);
  expect((await entriesOf(town)).length).toBe(60);
  expect(mostInASecond(polls)).toBe(5);
  await Promise.all(processes.map((videos) => videos.stop()));
});

test("the pace holds when a process ends and another goes on with what it had, and after a stand-still of all", async () => {
  await using town = await openTaskTown(2, { queuedMs: 0, runningMs: 400_000 });
  const { polls, transport } = listening(town);
  await manyTasks(town, 80);
  const first = openTaskSetup(town, { models: [one], transport }).videos;
  first.start();
  await passTime(town.clock, 6_000, 100);
  // It is gone with all that it kept in memory.
  await first.stop();
  const second = openTaskSetup(town, { models: [one], transport }).videos;
  second.start();
  await passTime(town.clock, 20_000, 100);
  await second.stop();
  // Nobody is there for ten minutes: all places are over.
  town.clock.advance(600_000);
  const third = openTaskSetup(town, { models: [one], transport }).videos;
  const fourth = openTaskSetup(town, { models: [one], transport }).videos;
  third.start();
  fourth.start();
  await passTime(town.clock, 60_000, 100);
  expect(mostInASecond(polls)).toBe(5);
  expect((await entriesOf(town)).length).toBe(80);
  await Promise.all([third.stop(), fourth.stop()]);
});

test("tasks of unknown fate that a dead process left are looked for in the vendor's list at the account's pace too", async () => {
  await using town = await openTaskTown(3);
  const { polls, transport } = listening(town);
  const made = await manyTasks(town, 20);
  // As a process leaves them that was killed while it sent.
  await town.database.kysely
    .updateTable("tasks")
    .set({ state: "submitting", upstream_id: null, due_at: town.clock.now() })
    .execute();
  const { videos } = openTaskSetup(town, { models: [one], transport });
  videos.start();
  await passTime(town.clock, 10_000, 100);
  expect(polls.length).toBeGreaterThanOrEqual(made.length);
  expect(mostInASecond(polls)).toBe(5);
  await videos.stop();
});

test("a vendor's 'no such task' that another process has seen refuted since ends nothing", async () => {
  let gone = true;
  await using town = await openTaskTown(4, {
    queuedMs: 0,
    runningMs: 10_000_000,
    poll: () => (gone ? { status: 404, code: "ResourceNotFound" } : null),
  });
  const [made] = await manyTasks(town, 1);
  const look = async (ms: number): Promise<void> => {
    const { videos } = openTaskSetup(town, { models: [one] });
    videos.start();
    await passTime(town.clock, ms, 1_000);
    await videos.stop();
  };
  const kept = openTaskSetup(town, { models: [one] }).videos;
  kept.start();
  await passTime(town.clock, 60_000, 1_000);
  await kept.stop();
  gone = false;
  await look(60_000);
  gone = true;
  await look(550_000);
  expect(await town.taskStore.findById(made?.id ?? "")).toMatchObject({ finishedAt: null });
  // Ten minutes of nothing else, whoever heard it.
  await look(120_000);
  expect(await town.taskStore.findById(made?.id ?? "")).toMatchObject({
    state: "failed",
    error: { code: "task_gone" },
  });
});
