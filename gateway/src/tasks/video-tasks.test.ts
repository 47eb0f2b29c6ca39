import { expect, test } from "bun:test";
import { tokensOfVideo } from "../../test/simulation/simulated-ark.ts";
import {
  alice,
  budgetUsed,
  catOnRoof,
  createCall,
  entriesOf,
  failureOf,
  oneUsd,
  openTaskSetup,
  openTaskWorld,
  passTime,
  resolved,
} from "../../test/simulation/task-setup.ts";
import { taskAnswer } from "./index.ts";

test("a task is queued, runs, succeeds, and is charged once by its vendor's count", async () => {
  await using world = await openTaskWorld();
  const gateway = openTaskSetup(world);
  const { videos } = gateway;
  videos.start();
  const made = await videos.create(createCall(world, catOnRoof));
  expect(taskAnswer(made, null)["status"]).toBe("queued");
  expect(await budgetUsed(gateway)).toBeGreaterThan(0);

  await passTime(world.clock, 10_000);
  expect((await videos.get("ws_1", made.id)).state).toBe("running");
  await passTime(world.clock, 40_000);
  const done = await videos.get("ws_1", made.id);
  expect(done).toMatchObject({ state: "succeeded", progress: 100, costNanoUsd: oneUsd, dueAt: null });
  expect(done.output?.videoUrl).toBe("https://results.example/cgt-000001.mp4");
  const entries = await entriesOf(world);
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({
    attemptId: made.attemptId,
    endpoint: "video",
    callerDialect: "video-tasks",
    outcome: "succeeded",
    usageSource: "upstream",
    costNanoUsd: oneUsd,
    provider: "first",
  });
  expect(entries[0]?.usage.output).toBe(tokensOfVideo);
  expect(await budgetUsed(gateway)).toBe(1);
  expect([videos.held, gateway.admission.outstanding, gateway.admission.repeatedEndings]).toEqual([0, 0, 0]);
  expect((await videos.events("ws_1", made.id)).map(({ state }) => state)).toEqual([
    "accepted",
    "submitting",
    "queued",
    "running",
    "succeeded",
  ]);
  expect((await world.ledgerStore.check()).faults).toEqual([]);
  await videos.stop();
});

test("the answer has every member that the contract names", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world);
  const body = { ...catOnRoof, seed: -7, audio: false, watermark: true, metadata: { shot: 3 } };
  const made = await videos.create(createCall(world, body));
  const created = Math.floor(world.clock.now() / 1_000);
  expect(taskAnswer(made, "https://sluice.example")).toEqual({
    id: made.id,
    task_id: made.id,
    object: "video.task",
    model: "seedance",
    status: "queued",
    progress: null,
    created_at: created,
    updated_at: created,
    started_at: null,
    finished_at: null,
    expires_at: created + 49 * 3_600,
    prompt: "a cat on a roof",
    ratio: "16:9",
    duration: 5,
    resolution: "720p",
    audio: false,
    watermark: true,
    seed: -7,
    output: null,
    error: null,
    usage: null,
    cost: { amount_usd: 1.08, estimated: true },
    metadata: { shot: 3 },
    poll_after_ms: 3_000,
  });
  videos.start();
  await passTime(world.clock, 60_000);
  const shown = taskAnswer(await videos.get("ws_1", made.id), "https://sluice.example");
  expect(shown).toMatchObject({
    status: "succeeded",
    output: {
      video_url: "https://results.example/cgt-000001.mp4",
      content_url: `https://sluice.example/v1/video/tasks/${made.id}/content`,
    },
    usage: { output_tokens: tokensOfVideo, total_tokens: tokensOfVideo, video_seconds: 5 },
    cost: { amount_usd: 1, estimated: false },
    poll_after_ms: null,
  });
  await videos.stop();
});

test("returns task_not_found for another workspace's task on every path", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, catOnRoof));
  const signal = new AbortController().signal;
  const calls = [
    videos.get("ws_2", made.id),
    videos.cancel("ws_2", made.id),
    videos.content("ws_2", made.id, { range: null, still: null }, signal),
    videos.events("ws_2", made.id),
    videos.deliveries("ws_2", made.id),
  ];
  for (const call of calls) expect((await failureOf(call)).code).toBe("task_not_found");
  expect((await videos.page({ workspaceId: "ws_2" }, null, 10)).tasks).toEqual([]);
  const draft = { content: [{ type: "draft_task", draft_task: { id: made.id } }] };
  const stranger = { ...alice, workspace: { ...alice.workspace, id: "ws_2" } };
  const reached = await failureOf(videos.create(createCall(world, draft, { principal: stranger })));
  expect(reached.code).toBe("task_not_found");
});

test("a repeated Idempotency-Key returns the same task without sending or holding again", async () => {
  await using world = await openTaskWorld();
  const gateway = openTaskSetup(world);
  const { videos } = gateway;
  const call = () => createCall(world, catOnRoof, { idempotencyKey: "once" });
  const first = await videos.create(call());
  const used = await budgetUsed(gateway);
  const again = await videos.create(call());
  expect(again.id).toBe(first.id);
  expect(world.ark.tasks.size).toBe(1);
  expect([await budgetUsed(gateway), videos.held]).toEqual([used, 1]);
  const other = createCall(world, { ...catOnRoof, seed: 1 }, { idempotencyKey: "once" });
  expect((await failureOf(videos.create(other))).code).toBe("idempotency_conflict");
  expect(videos.held).toBe(1);
});

test("simultaneous calls with one Idempotency-Key make one task", async () => {
  await using world = await openTaskWorld(1, { latencyMs: () => 700 });
  const { videos } = openTaskSetup(world);
  const calls = Promise.all(
    [1, 2, 3, 4].map(() => videos.create(createCall(world, catOnRoof, { idempotencyKey: "k" }))),
  );
  const made = await resolved(world.clock, calls);
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  expect(world.ark.tasks.size).toBe(1);
});

test("returns a state no older than the poll interval, even without a poller", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, catOnRoof));
  await passTime(world.clock, 1_000);
  await resolved(world.clock, videos.get("ws_1", made.id));
  expect(world.ark.tasks.get("cgt-000001")?.polls).toBe(0);
  await passTime(world.clock, 5_000);
  expect((await resolved(world.clock, videos.get("ws_1", made.id))).state).toBe("running");
  await resolved(world.clock, videos.get("ws_1", made.id));
  expect(world.ark.tasks.get("cgt-000001")?.polls).toBe(1);
});

test("returns the stored state if the upstream does not answer", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, catOnRoof));
  await passTime(world.clock, 5_000);
  world.ark.behavior = { latencyMs: () => 20_000 };
  const startMs = world.clock.monotonic();
  expect((await resolved(world.clock, videos.get("ws_1", made.id))).state).toBe("queued");
  expect(world.clock.monotonic() - startMs).toBeLessThanOrEqual(2_400);
});

test("polls tasks of a disabled or deleted provider", async () => {
  await using world = await openTaskWorld();
  const made = await openTaskSetup(world).videos.create(createCall(world, catOnRoof));
  const { videos } = openTaskSetup(world, { models: [] });
  videos.start();
  await passTime(world.clock, 60_000);
  expect((await videos.get("ws_1", made.id)).state).toBe("succeeded");
  await videos.stop();
});
