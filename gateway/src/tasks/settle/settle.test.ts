import { expect, test } from "bun:test";
import { transportOf } from "../../../test/sending-transport.ts";
import { governedPrincipal } from "../../../test/simulation/governed-principal.ts";
import { jsonAnswer } from "../../../test/simulation/simulated-ark.ts";
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
  seedance,
} from "../../../test/simulation/task-setup.ts";
import { taskAnswer } from "../index.ts";

test("expires a running task at its deadline and charges the estimate", async () => {
  await using world = await openTaskWorld(1, { runningMs: 1e12 });
  const gateway = openTaskSetup(world);
  const { videos } = gateway;
  const made = await videos.create(createCall(world, { ...catOnRoof, execution_expires_after: 60 }));
  videos.start();
  await passTime(world.clock, 3_700_000, 5_000);
  expect(await videos.get("ws_1", made.id)).toMatchObject({
    state: "expired",
    error: { code: "expired" },
    costNanoUsd: made.reservedNanoUsd,
  });
  expect(
    (await entriesOf(world)).map(({ outcome, httpStatus, usageSource }) => [outcome, httpStatus, usageSource]),
  ).toEqual([["failed", 504, "estimated"]]);
  expect(videos.held).toBe(0);
  expect(await budgetUsed(gateway)).toBeCloseTo(made.reservedNanoUsd / oneUsd, 6);
  await videos.stop();
});

test("cancels a queued task at its deadline, charges nothing and ends the hold", async () => {
  await using world = await openTaskWorld(1, { queuedMs: 1e12 });
  const gateway = openTaskSetup(world);
  const made = await gateway.videos.create(createCall(world, { ...catOnRoof, execution_expires_after: 60 }));
  gateway.videos.start();
  await passTime(world.clock, 3_700_000, 5_000);
  expect(world.ark.state("cgt-000001")).toBe("cancelled");
  expect(await gateway.videos.get("ws_1", made.id)).toMatchObject({ state: "expired", costNanoUsd: 0 });
  expect([gateway.videos.held, await budgetUsed(gateway)]).toEqual([0, 0]);
  await gateway.videos.stop();
});

test("charges the estimate for a task that was sent and never found", async () => {
  await using world = await openTaskWorld(1, { create: () => "lost" });
  const gateway = openTaskSetup(world);
  const made = await gateway.videos.create(createCall(world, { ...catOnRoof, execution_expires_after: 60 }));
  expect(made.state).toBe("unknown");
  gateway.videos.start();
  await passTime(world.clock, 3_700_000, 5_000);
  expect(taskAnswer(await gateway.videos.get("ws_1", made.id), null)).toMatchObject({
    status: "expired",
    cost: { amount_usd: made.reservedNanoUsd / oneUsd, estimated: true },
  });
  expect((await entriesOf(world)).map(({ usageSource }) => usageSource)).toEqual(["estimated"]);
  await gateway.videos.stop();
});

test("a failed video costs nothing and shows its vendor's reason", async () => {
  await using world = await openTaskWorld(1, { ends: () => "failed" });
  const gateway = openTaskSetup(world);
  const made = await gateway.videos.create(createCall(world, catOnRoof));
  gateway.videos.start();
  await passTime(world.clock, 60_000);
  const task = await gateway.videos.get("ws_1", made.id);
  expect(taskAnswer(task, null)).toMatchObject({
    status: "failed",
    error: { code: "OutputVideoSensitiveContentDetected", message: "not this one" },
    cost: { amount_usd: 0, estimated: false },
  });
  expect(await budgetUsed(gateway)).toBe(0);
  await gateway.videos.stop();
});

test("charges a price per second by the vendor's seconds, even if it bills tokens", async () => {
  await using world = await openTaskWorld();
  const perSecond = {
    ...seedance,
    price: { id: "prc_2", model: "seedance", table: { videoSeconds: 100_000_000_000 }, effectiveFrom: 0 },
  };
  const { videos } = openTaskSetup(world, { models: [perSecond] });
  const made = await videos.create(createCall(world, { ...catOnRoof, duration: 8 }, { models: [perSecond] }));
  expect(made.reservedNanoUsd).toBe(800_000_000);
  videos.start();
  await passTime(world.clock, 60_000);
  // The fake vendor reports that it made five.
  expect((await videos.get("ws_1", made.id)).costNanoUsd).toBe(500_000_000);
  await videos.stop();
});

test("assumes the vendor's default length if neither caller nor vendor gives one", async () => {
  await using world = await openTaskWorld();
  const name = "models/veo-3.1-generate-preview/operations/o-1";
  const video = { uri: "https://google.example/v1beta/files/x:download?alt=media" };
  const response = { generateVideoResponse: { generatedSamples: [{ video }] } };
  const transport = transportOf(async ({ method }: { readonly method: string }) =>
    jsonAnswer(200, method === "POST" ? { name } : { name, done: true, response }),
  );
  const provider = arkProvider("veo", { kind: "gemini", baseUrl: "https://google.example/v1beta" });
  const perSecond = { id: "prc_2", model: "seedance", table: { videoSeconds: 400_000_000_000 }, effectiveFrom: 0 };
  const deployments = [arkDeployment("veo", 1, { provider, upstreamModel: "veo-3.1-generate-preview" })];
  const models = [{ ...seedance, deployments, price: perSecond }];
  const { videos } = openTaskSetup(world, { transport, models });
  const { id, reservedNanoUsd } = await videos.create(createCall(world, { prompt: "a cat" }, { models }));
  videos.start();
  await passTime(world.clock, 20_000);
  const { state, costNanoUsd, usage } = await videos.get("ws_1", id);
  expect([state, costNanoUsd, usage?.videoSeconds, reservedNanoUsd]).toEqual([
    "succeeded",
    3_200_000_000,
    8,
    3_200_000_000,
  ]);
  expect((await entriesOf(world)).map(({ usageSource }) => usageSource)).toEqual(["estimated"]);
  await videos.stop();
});

test("refuses a task over budget before anything is sent, and frees the budget when a task ends", async () => {
  await using world = await openTaskWorld(1, { ends: () => "failed" });
  const { videos, journal } = openTaskSetup(world);
  const poor = governedPrincipal({ key: { budget: { nanoUsd: 1_500_000_000, period: "day" } } });
  const call = () => createCall(world, catOnRoof, { principal: poor });
  await videos.create(call());
  const failure = await failureOf(videos.create(call()));
  expect([failure.code, world.ark.tasks.size]).toEqual(["budget_held", 1]);
  expect(journal.entries.map(({ outcome, errorCode, endpoint }) => [outcome, errorCode, endpoint])).toEqual([
    ["rejected", "budget_held", "video"],
  ]);
  videos.start();
  await passTime(world.clock, 60_000);
  expect((await videos.create(call())).state).toBe("queued");
  await videos.stop();
});

test("holds money for open tasks again after a restart, even over budget, and settles it", async () => {
  await using world = await openTaskWorld();
  const poor = governedPrincipal({ key: { budget: { nanoUsd: 1_200_000_000, period: "total" } } });
  const before = openTaskSetup(world);
  const made = await before.videos.create(createCall(world, catOnRoof, { principal: poor }));
  const after = openTaskSetup(world, { principalOf: () => poor });
  expect(await after.videos.restoreHolds()).toBe(1);
  expect(await budgetUsed(after, poor)).toBeCloseTo(1.08, 6);
  after.videos.start();
  await passTime(world.clock, 60_000);
  expect((await after.videos.get("ws_1", made.id)).state).toBe("succeeded");
  expect([await budgetUsed(after, poor), after.videos.held]).toEqual([1, 0]);
  await after.videos.stop();
});

test("holds money for a person's tasks again after a restart", async () => {
  await using world = await openTaskWorld();
  const ada = governedPrincipal({ person: { budget: { nanoUsd: 1_200_000_000, period: "month" } } });
  await openTaskSetup(world).videos.create(createCall(world, catOnRoof, { principal: ada }));
  const { scopes, ...others } = ada;
  const withoutPerson = { ...others, person: null, scopes: scopes.filter(({ kind }) => kind !== "person") };
  const principalOf = ({ personId }: { personId?: string }) => (personId === ada.person ? ada : withoutPerson);
  const after = openTaskSetup(world, { principalOf });
  await after.videos.restoreHolds();
  expect(await budgetUsed(after, ada)).toBeCloseTo(1.08, 6);
});

test("releases the hold of a task that another process ended", async () => {
  await using world = await openTaskWorld();
  const accepting = openTaskSetup(world);
  const polling = openTaskSetup(world);
  await accepting.videos.create(createCall(world, catOnRoof));
  polling.videos.start();
  await passTime(world.clock, 60_000);
  expect(accepting.videos.held).toBe(1);
  await polling.videos.stop();
  accepting.videos.start();
  await passTime(world.clock, 10_000);
  expect([accepting.videos.held, await budgetUsed(accepting)]).toEqual([0, 1]);
  await accepting.videos.stop();
});
