import { expect, test } from "bun:test";
import { Failure, type Task } from "#core/index.ts";
import { KillableProcess } from "../../../test/simulation/killable-process.ts";
import {
  arkDeployment,
  arkProvider,
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
  seedance,
  settleDown,
} from "../../../test/simulation/task-setup.ts";
import { taskAnswer } from "../index.ts";

test("refuses a vendor's own ids of tasks and assets, which may be another workspace's", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world);
  const bodies = [
    { prompt: "x", image: "asset://asset-20260320142452-2htjn" },
    { prompt: "x", content: [{ type: "image_url", image_url: { url: "Asset://asset-1" } }] },
    { prompt: "x", extra: { deep: ["asset://as_1"] } },
    { prompt: "x", content: [{ type: "draft_task", draft_task: { id: "cgt-1" } }] },
  ];
  const codes: string[] = [];
  for (const body of bodies) codes.push((await failureOf(videos.create(createCall(world, body)))).code);
  expect(codes).toEqual(["asset_not_found", "asset_not_found", "asset_not_found", "task_not_found"]);
  expect(world.ark.tasks.size).toBe(0);
});

test("sends assets by the upstream's ids and prefers accounts that hold them", async () => {
  await using world = await openTaskWorld();
  const asked: string[] = [];
  const assets = {
    async resolve(workspaceId: string, assetId: string, account: { readonly id: string }) {
      asked.push(`${workspaceId} ${assetId} ${account.id}`);
      return { url: `asset://asset-of-${account.id}`, inline: null, type: "image" as const };
    },
    holders: async () => ["second"],
  };
  const { videos } = openTaskSetup(world, { assets });
  const content = [{ type: "image_url", image_url: { url: "asset://as_1" }, role: "reference_image" }];
  const made = await videos.create(createCall(world, { prompt: "x", content }));
  expect(made.account?.providerId).toBe("second");
  expect(asked).toEqual(["ws_1 as_1 second"]);
  expect(JSON.stringify(world.ark.tasks.get("cgt-000001")?.body)).toContain("asset://asset-of-second");
  expect(made.request).toContain("asset://as_1");
});

test("fails the task and returns the upstream's status for a caller's fault", async () => {
  await using world = await openTaskWorld(1, {
    create: () => ({ status: 400, code: "InputTextSensitiveContentDetected" }),
  });
  const gateway = openTaskSetup(world);
  const failure = await failureOf(gateway.videos.create(createCall(world, catOnRoof)));
  expect([failure.upstream?.status, failure.retry]).toEqual([400, "never"]);
  expect(JSON.parse(new TextDecoder().decode(failure.upstream?.body))).toMatchObject({
    error: { message: "status 400", code: "InputTextSensitiveContentDetected" },
  });
  const [task] = (await gateway.videos.page({ workspaceId: "ws_1" }, null, 1)).tasks;
  expect(task).toMatchObject({ state: "failed", error: { code: "InputTextSensitiveContentDetected" }, costNanoUsd: 0 });
  expect((await entriesOf(world)).map(({ outcome, httpStatus }) => [outcome, httpStatus])).toEqual([["failed", 400]]);
  expect([gateway.videos.held, await budgetUsed(gateway)]).toEqual([0, 0]);
});

test("skips unreachable and unhealthy deployments before a task is accepted", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world);
  for (const fault of ["unreachable", { status: 503 }, { status: 429 }, { status: 401 }] as const) {
    let creates = 0;
    world.ark.behavior = { create: () => (creates++ === 0 ? fault : null) };
    const made = await resolved(world.clock, videos.create(createCall(world, catOnRoof)));
    expect(made.state).toBe("queued");
  }
  expect(world.ark.tasks.size).toBe(4);
});

test("returns an unknown outcome as queued and never sends it again", async () => {
  for (const fault of ["lost", "cut", { status: 500 }, { status: 504 }, { status: 502 }, { status: 408 }] as const) {
    await using world = await openTaskWorld(1, { create: () => fault });
    const { videos } = openTaskSetup(world);
    const made = await videos.create(createCall(world, catOnRoof));
    expect([made.state, taskAnswer(made, null)["status"]]).toEqual(["unknown", "queued"]);
    videos.start();
    await passTime(world.clock, 60_000);
    const posts = world.ark.sent.filter(({ method }) => method === "POST");
    expect(posts).toHaveLength(1);
    expect((await videos.get("ws_1", made.id)).state).toBe("unknown");
    expect(await entriesOf(world)).toEqual([]);
    await videos.stop();
  }
});

test("finds a task with a lost answer in the vendor's list by our id and charges it once", async () => {
  await using world = await openTaskWorld(1, { create: () => "cut" });
  const marked = {
    ...seedance,
    deployments: [arkDeployment("first", 1, { provider: arkProvider("first", { settings: { mark_tasks: true } }) })],
  };
  const { videos } = openTaskSetup(world, { models: [marked] });
  const made = await videos.create(createCall(world, catOnRoof, { models: [marked] }));
  expect(made.state).toBe("unknown");
  videos.start();
  await passTime(world.clock, 90_000);
  expect(await videos.get("ws_1", made.id)).toMatchObject({
    state: "succeeded",
    upstreamId: "cgt-000001",
    costNanoUsd: oneUsd,
  });
  expect([world.ark.tasks.size, (await entriesOf(world)).length]).toEqual([1, 1]);
  await videos.stop();
});

test("a store failure after sending does not fail the task: another pass continues", async () => {
  await using world = await openTaskWorld(1, { create: () => "cut" });
  const marked = {
    ...seedance,
    deployments: [arkDeployment("first", 1, { provider: arkProvider("first", { settings: { mark_tasks: true } }) })],
  };
  let failures = 0;
  const { taskStore } = world;
  const failing: typeof taskStore = Object.create(taskStore, {
    step: {
      value: (...args: Parameters<typeof taskStore.step>) => {
        if (args[1].state !== "unknown" || failures > 0) return taskStore.step(...args);
        failures++;
        return Promise.reject(new Failure("storage_unavailable", "The connection to the database was lost."));
      },
    },
  });
  const { videos } = openTaskSetup({ ...world, taskStore: failing }, { models: [marked] });
  const made = await videos.create(createCall(world, catOnRoof, { models: [marked] }));
  expect([failures, made.state]).toEqual([1, "submitting"]);
  videos.start();
  await passTime(world.clock, 600_000);
  expect(await videos.get("ws_1", made.id)).toMatchObject({ state: "succeeded", costNanoUsd: oneUsd });
  expect([world.ark.tasks.size, (await entriesOf(world)).length]).toEqual([1, 1]);
  await videos.stop();
});

test("never matches two equal lost tasks with the same entry of the vendor's list", async () => {
  let count = 0;
  await using world = await openTaskWorld(1, {
    create: () => (++count <= 2 ? "cut" : "lost"),
    listsPrompts: true,
    runningMs: 3_600_000,
  });
  const { videos } = openTaskSetup(world);
  const tasks: Task[] = [];
  for (let index = 0; index < 3; index++) tasks.push(await videos.create(createCall(world, catOnRoof)));
  videos.start();
  await passTime(world.clock, 900_000, 2_000);
  const stored = await Promise.all(tasks.map(({ id }) => videos.get("ws_1", id)));
  const found = stored.flatMap(({ upstreamId }) => upstreamId ?? []);
  expect(found.toSorted()).toEqual(["cgt-000001", "cgt-000002"]);
  expect(stored.filter(({ state }) => state === "unknown")).toHaveLength(1);
  await videos.stop();
});

test("another process sends an accepted task of a dead process, once", async () => {
  await using world = await openTaskWorld();
  const never = { ...world.taskStore, leaseOne: () => new Promise<never>(() => undefined) };
  const dying = openTaskSetup(world, { store: never });
  void dying.videos.create(createCall(world, catOnRoof));
  await settleDown();
  expect(world.ark.tasks.size).toBe(0);
  const { videos } = openTaskSetup(world);
  videos.start();
  await passTime(world.clock, 60_000);
  const [task] = (await videos.page({ workspaceId: "ws_1" }, null, 1)).tasks;
  expect([task?.state, world.ark.tasks.size]).toEqual(["succeeded", 1]);
  await videos.stop();
});

test("a process that was suspended while its upstream accepted a task stores the id afterward", async () => {
  await using world = await openTaskWorld(1, { latencyMs: () => 1_000 });
  const mortal = new KillableProcess();
  const stopped = openTaskSetup(world, {
    clock: mortal.clock(world.clock),
    transport: mortal.transport(world.ark),
    store: mortal.store(world.taskStore),
  });
  const { videos } = openTaskSetup(world);
  videos.start();
  const pending = stopped.videos.create(createCall(world, catOnRoof));
  await passTime(world.clock, 500);
  mortal.stop();
  await passTime(world.clock, 400_000, 1_000);
  const [lost] = (await videos.page({ workspaceId: "ws_1" }, null, 1)).tasks;
  expect([lost?.state, lost?.upstreamId, world.ark.tasks.size]).toEqual(["unknown", null, 1]);
  mortal.resume();
  await resolved(world.clock, pending);
  await passTime(world.clock, 60_000);
  const [found] = (await videos.page({ workspaceId: "ws_1" }, null, 1)).tasks;
  expect(found).toMatchObject({ state: "succeeded", upstreamId: "cgt-000001" });
  expect([world.ark.tasks.size, (await entriesOf(world)).length]).toEqual([1, 1]);
  await videos.stop();
});

test("uses a fallback model after the model's deployments refuse, at the fallback's own price", async () => {
  await using world = await openTaskWorld();
  const own = seedance.price;
  if (own === null) throw new Error("the model has no price");
  const tenfold = {
    ...own,
    id: "prc_dear",
    table: { output: 10 * (own.table.output ?? 0), videoSeconds: 10 * (own.table.videoSeconds ?? 0) },
  };
  const fallback = { ...seedance, name: "other", deployments: [arkDeployment("third")], price: tenfold };
  const { videos } = openTaskSetup(world);
  world.ark.behavior = {
    create: () => (world.ark.sent.at(-1)?.headers["authorization"] === "Bearer key of third" ? null : { status: 403 }),
  };
  const made = await resolved(
    world.clock,
    videos.create(createCall(world, catOnRoof, { models: [seedance, fallback] })),
  );
  expect(made).toMatchObject({ state: "queued", model: "seedance", deployment: "dep_third", priceVersion: "prc_dear" });
  expect(made.reservedNanoUsd).toBeGreaterThanOrEqual(10 * oneUsd);
  videos.start();
  await passTime(world.clock, 50_000);
  const [entry] = await entriesOf(world);
  expect(entry).toMatchObject({ costNanoUsd: 10 * oneUsd, model: "other", requestedModel: "seedance" });
  await videos.stop();
});
