import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { transportOf } from "../../../test/sending-transport.ts";
import { jsonAnswer } from "../../../test/simulation/simulated-ark.ts";
import {
  arkDeployment,
  arkProvider,
  catOnRoof,
  createCall,
  entriesOf,
  oneUsd,
  openTaskSetup,
  openTaskWorld,
  passTime,
  seedance,
} from "../../../test/simulation/task-setup.ts";

test("failed polls do not end a task: it continues when its upstream recovers", async () => {
  let ill = true;
  await using world = await openTaskWorld(1, { poll: () => (ill ? { status: 500 } : null) });
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, catOnRoof));
  videos.start();
  await passTime(world.clock, 300_000, 1_000);
  expect((await videos.get("ws_1", made.id)).state).toBe("queued");
  ill = false;
  await passTime(world.clock, 60_000, 1_000);
  expect((await videos.get("ws_1", made.id)).state).toBe("succeeded");
  await videos.stop();
});

test("reports the delay between due time and poll", async () => {
  await using world = await openTaskWorld(1, { queuedMs: 3_600_000 });
  const { videos } = openTaskSetup(world);
  await videos.create(createCall(world, catOnRoof));
  await passTime(world.clock, 600_000, 10_000);
  expect(videos.lateMs).toBe(0);
  videos.start();
  world.clock.advance(50);
  await until(() => videos.lateMs > 500_000);
  await passTime(world.clock, 120_000, 1_000);
  expect(videos.lateMs).toBeLessThan(2_000);
  // Nothing is polled while the store is unavailable.
  world.clock.advance(900_000);
  expect(videos.lateMs).toBeGreaterThan(800_000);
  await videos.stop();
  expect(videos.lateMs).toBe(0);
});

test("fails a task only after its vendor has reported it missing for ten minutes", async () => {
  await using world = await openTaskWorld(1, { ends: () => "vanished", queuedMs: 5_000 });
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, catOnRoof));
  videos.start();
  await passTime(world.clock, 300_000, 2_000);
  expect((await videos.get("ws_1", made.id)).finishedAt).toBeNull();
  await passTime(world.clock, 400_000, 2_000);
  expect(await videos.get("ws_1", made.id)).toMatchObject({
    state: "failed",
    error: { code: "task_gone" },
    // No answer said that the task was not created, so the reserved amount is charged.
    costNanoUsd: made.reservedNanoUsd,
  });
  await videos.stop();
});

test("does not fail a task at the first UNKNOWN inside a 200 (Wan)", async () => {
  let word = "UNKNOWN";
  await using world = await openTaskWorld();
  const transport = transportOf(async ({ method }: { readonly method: string }) => {
    const video = word === "SUCCEEDED" ? { video_url: "https://results.example/wan.mp4" } : {};
    const output = { task_id: "t-1", task_status: method === "POST" ? "PENDING" : word, ...video };
    return jsonAnswer(200, { output, usage: { duration: 5 } });
  });
  const provider = arkProvider("wan", { kind: "dashscope", baseUrl: "https://wan.example/compatible-mode/v1" });
  const perSecond = { id: "prc_2", model: "seedance", table: { videoSeconds: 200_000_000_000 }, effectiveFrom: 0 };
  const deployments = [arkDeployment("wan", 1, { provider, upstreamModel: "wan2.5-t2v-preview" })];
  const models = [{ ...seedance, deployments, price: perSecond }];
  const { videos } = openTaskSetup(world, { transport, models });
  videos.start();
  const ends: unknown[] = [];
  for (const later of ["SUCCEEDED", "UNKNOWN"]) {
    word = "UNKNOWN";
    const { id } = await videos.create(createCall(world, { prompt: "a cat", duration: 5 }, { models }));
    await passTime(world.clock, 120_000, 1_000);
    expect((await videos.get("ws_1", id)).state).toBe("queued");
    word = later;
    await passTime(world.clock, 700_000, 2_000);
    const { state, error, costNanoUsd } = await videos.get("ws_1", id);
    ends.push([state, error?.code ?? null, costNanoUsd]);
  }
  expect(ends).toEqual([
    ["succeeded", null, oneUsd],
    ["failed", "task_gone", oneUsd],
  ]);
  await videos.stop();
});

test("rounds a task's times to whole milliseconds", async () => {
  await using world = await openTaskWorld();
  const spent = { error: { code: 429, message: "m", status: "RESOURCE_EXHAUSTED" } };
  const name = "models/veo-3.1/operations/o-1";
  const transport = transportOf(async ({ method }: { readonly method: string }) =>
    method === "POST" ? jsonAnswer(200, { name }) : jsonAnswer(429, spent, { "retry-after-ms": "34074.824224" }),
  );
  const provider = arkProvider("veo", { kind: "gemini", baseUrl: "https://google.example/v1beta" });
  const models = [{ ...seedance, deployments: [arkDeployment("veo", 1, { provider, upstreamModel: "veo-3.1" })] }];
  const { videos } = openTaskSetup(world, { transport, models });
  videos.start();
  const body = { prompt: "a cat", execution_expires_after: 7_200.0001 };
  const { id } = await videos.create(createCall(world, body, { models }));
  await passTime(world.clock, 10_000);
  const { deadlineAt, dueAt, polls } = await videos.find("ws_1", id);
  expect([deadlineAt, dueAt].every(Number.isSafeInteger)).toBe(true);
  expect([polls, (dueAt ?? 0) - world.clock.now() > 20_000]).toEqual([1, true]);
  await videos.stop();
});

test("polls one account at a bounded rate and every task in turn", async () => {
  await using world = await openTaskWorld(1, { queuedMs: 0, runningMs: 60_000 });
  const one = { ...seedance, deployments: [arkDeployment("first")] };
  const { videos } = openTaskSetup(world, { models: [one] });
  for (let index = 0; index < 60; index++) await videos.create(createCall(world, catOnRoof, { models: [one] }));
  const sentBefore = world.ark.sent.length;
  videos.start();
  await passTime(world.clock, 30_000, 250);
  const polled = world.ark.sent.length - sentBefore;
  expect(polled).toBeLessThanOrEqual(5 * 30 + 1);
  expect(polled).toBeGreaterThan(100);
  expect([...world.ark.tasks.values()].filter(({ polls }) => polls === 0)).toEqual([]);
  await passTime(world.clock, 90_000, 250);
  expect((await entriesOf(world)).length).toBe(60);
  await videos.stop();
});

test("an upstream's callback with the task's token only makes the next poll due now", async () => {
  await using world = await openTaskWorld(1, { queuedMs: 0, runningMs: 200_000 });
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, catOnRoof));
  const { callbackUrl } = world.ark.tasks.get("cgt-000001") ?? {};
  const token = decodeURIComponent(callbackUrl?.split("/").at(-1) ?? "");
  videos.start();
  await passTime(world.clock, 201_000);
  const polls = (): number => world.ark.tasks.get("cgt-000001")?.polls ?? 0;
  const before = polls();
  const body = new TextEncoder().encode('{"id":"cgt-000001","status":"failed"}');
  expect(await videos.handleCallback(made.id, "guessed", async () => body)).toBe(false);
  expect(await videos.handleCallback(made.id, token, async () => new TextEncoder().encode('{"id":"cgt-000009"}'))).toBe(
    false,
  );
  for (let copy = 0; copy < 3; copy++) expect(await videos.handleCallback(made.id, token, async () => body)).toBe(true);
  await passTime(world.clock, 1_000);
  expect(polls()).toBe(before + 1);
  expect((await videos.get("ws_1", made.id)).state).toBe("succeeded");
  expect(await entriesOf(world)).toHaveLength(1);
  await videos.stop();
});

/** An hour and a minute before its deadline. */
const short = { ...catOnRoof, execution_expires_after: 60 };
const pastDeadlineMs = 3_700_000;

test("polls again after the deadline while the vendor does not answer, counted from the first failed poll", async () => {
  let ill = true;
  await using world = await openTaskWorld(1, {
    queuedMs: 0,
    runningMs: 60_000,
    poll: () => (ill ? { status: 500 } : null),
  });
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, short));
  // The gateway was down for hours.
  world.clock.advance(5 * 3_600_000);
  videos.start();
  await passTime(world.clock, 590_000, 5_000);
  expect((await videos.get("ws_1", made.id)).finishedAt).toBeNull();
  ill = false;
  await passTime(world.clock, 40_000, 5_000);
  expect(await videos.get("ws_1", made.id)).toMatchObject({ state: "succeeded", costNanoUsd: oneUsd });
  expect((await entriesOf(world)).map(({ usageSource }) => usageSource)).toEqual(["upstream"]);
  await videos.stop();
});

test("expires a task after ten minutes without an answer past its deadline, not sooner after downtime", async () => {
  await using world = await openTaskWorld(1, { poll: () => ({ status: 500 }) });
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, short));
  videos.start();
  await passTime(world.clock, pastDeadlineMs, 10_000);
  expect((await videos.get("ws_1", made.id)).finishedAt).toBeNull();
  await videos.stop();
  // Another process continues hours later, and its first poll fails too.
  world.clock.advance(5 * 3_600_000);
  const next = openTaskSetup(world);
  next.videos.start();
  await passTime(world.clock, 540_000, 5_000);
  expect((await next.videos.get("ws_1", made.id)).finishedAt).toBeNull();
  await passTime(world.clock, 120_000, 5_000);
  expect(await next.videos.get("ws_1", made.id)).toMatchObject({ state: "expired", costNanoUsd: made.reservedNanoUsd });
  await next.videos.stop();
});

test("does not give up a task while the vendor's list cannot be read after the deadline", async () => {
  let ill = true;
  await using world = await openTaskWorld(1, { create: () => "cut", list: () => (ill ? { status: 500 } : null) });
  const provider = arkProvider("first", { settings: { mark_tasks: true } });
  const models = [{ ...seedance, deployments: [arkDeployment("first", 1, { provider })] }];
  const { videos } = openTaskSetup(world, { models });
  const made = await videos.create(createCall(world, short, { models }));
  expect(made.state).toBe("unknown");
  videos.start();
  await passTime(world.clock, pastDeadlineMs, 10_000);
  ill = false;
  await passTime(world.clock, 300_000, 10_000);
  const task = await videos.get("ws_1", made.id);
  expect([task.upstreamId, task.state, task.costNanoUsd]).toEqual(["cgt-000001", "succeeded", oneUsd]);
  await videos.stop();
});

test("finds a task in the vendor's list that a suspended process sent seven minutes late", async () => {
  let stood = false;
  await using world = await openTaskWorld(1, {
    create: () => {
      if (!stood) world.clock.jump(420_000);
      stood = true;
      return "cut";
    },
    listsPrompts: true,
    queuedMs: 1_200_000,
  });
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, catOnRoof));
  expect(made.state).toBe("unknown");
  videos.start();
  await passTime(world.clock, 1_500_000, 10_000);
  const task = await videos.get("ws_1", made.id);
  expect([task.upstreamId, task.state]).toEqual(["cgt-000001", "succeeded"]);
  await videos.stop();
});

test("a process that stops during a poll after the deadline does not end the task", async () => {
  let latencyMs = 0;
  await using world = await openTaskWorld(1, { latencyMs: () => latencyMs, queuedMs: 0, runningMs: 60_000 });
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, short));
  world.clock.advance(pastDeadlineMs);
  latencyMs = 10_000;
  videos.start();
  await passTime(world.clock, 1_000);
  await videos.stop();
  const left = await world.taskStore.findById(made.id);
  expect([left?.finishedAt, left?.unansweredSince]).toEqual([null, undefined]);
  latencyMs = 0;
  const next = openTaskSetup(world);
  next.videos.start();
  await passTime(world.clock, 5_000);
  expect((await next.videos.get("ws_1", made.id)).state).toBe("succeeded");
  await next.videos.stop();
});
