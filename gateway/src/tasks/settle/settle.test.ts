import { expect, test } from "bun:test";
import { governedPrincipal } from "../../../test/simulation/governed-principal.ts";
import { jsonAnswer } from "../../../test/simulation/pretended-ark.ts";
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
  openTaskTown,
  passTime,
  seedance,
} from "../../../test/simulation/task-setup.ts";
import { taskAnswer } from "../index.ts";

test("what still runs at its deadline has expired, and is booked as an estimate, for its vendor may charge for it", async () => {
  await using town = await openTaskTown(1, { runningMs: 1e12 });
  const gateway = openTaskSetup(town);
  const { videos } = gateway;
  const made = await videos.create(createCall(town, { ...catOnRoof, execution_expires_after: 60 }));
  videos.start();
  await passTime(town.clock, 3_700_000, 5_000);
  expect(await videos.get("ws_1", made.id)).toMatchObject({
    state: "expired",
    error: { code: "expired" },
    costNanoUsd: made.reservedNanoUsd,
  });
  expect(
    (await entriesOf(town)).map(({ outcome, httpStatus, usageSource }) => [outcome, httpStatus, usageSource]),
  ).toEqual([["failed", 504, "estimated"]]);
  expect(videos.held).toBe(0);
  expect(await budgetUsed(gateway)).toBeCloseTo(made.reservedNanoUsd / oneUsd, 6);
  await videos.stop();
});

test("what still waits at its deadline is taken back at its vendor, costs nothing, and gives back what was set aside", async () => {
  await using town = await openTaskTown(1, { queuedMs: 1e12 });
  const gateway = openTaskSetup(town);
  const made = await gateway.videos.create(createCall(town, { ...catOnRoof, execution_expires_after: 60 }));
  gateway.videos.start();
  await passTime(town.clock, 3_700_000, 5_000);
  expect(town.ark.state("cgt-000001")).toBe("cancelled");
  expect(await gateway.videos.get("ws_1", made.id)).toMatchObject({ state: "expired", costNanoUsd: 0 });
  expect([gateway.videos.held, await budgetUsed(gateway)]).toEqual([0, 0]);
  await gateway.videos.stop();
});

test("of what was sent and never heard of again nobody says that it is free: it is booked as an estimate", async () => {
  await using town = await openTaskTown(1, { create: () => "lost" });
  const gateway = openTaskSetup(town);
  const made = await gateway.videos.create(createCall(town, { ...catOnRoof, execution_expires_after: 60 }));
  expect(made.state).toBe("unknown");
  gateway.videos.start();
  await passTime(town.clock, 3_700_000, 5_000);
  expect(taskAnswer(await gateway.videos.get("ws_1", made.id), null)).toMatchObject({
    status: "expired",
    cost: { amount_usd: made.reservedNanoUsd / oneUsd, estimated: true },
  });
  expect((await entriesOf(town)).map(({ usageSource }) => usageSource)).toEqual(["estimated"]);
  await gateway.videos.stop();
});

test("a failed video costs nothing and shows its vendor's reason", async () => {
  await using town = await openTaskTown(1, { ends: () => "failed" });
  const gateway = openTaskSetup(town);
  const made = await gateway.videos.create(createCall(town, catOnRoof));
  gateway.videos.start();
  await passTime(town.clock, 60_000);
  const task = await gateway.videos.get("ws_1", made.id);
  expect(taskAnswer(task, null)).toMatchObject({
    status: "failed",
    error: { code: "OutputVideoSensitiveContentDetected", message: "not this one" },
    cost: { amount_usd: 0, estimated: false },
  });
  expect(await budgetUsed(gateway)).toBe(0);
  await gateway.videos.stop();
});

test("a price per second is paid by the seconds that were made, also where the vendor counts tokens only", async () => {
  await using town = await openTaskTown();
  const perSecond = {
    ...seedance,
    price: { id: "prc_2", model: "seedance", table: { videoSeconds: 100_000_000_000 }, effectiveFrom: 0 },
  };
  const { videos } = openTaskSetup(town, { models: [perSecond] });
  const made = await videos.create(createCall(town, { ...catOnRoof, duration: 8 }, { models: [perSecond] }));
  expect(made.reservedNanoUsd).toBe(800_000_000);
  videos.start();
  await passTime(town.clock, 60_000);
  // The pretended vendor says that it made five.
  expect((await videos.get("ws_1", made.id)).costNanoUsd).toBe(500_000_000);
  await videos.stop();
});

test("a length that neither the caller nor the vendor told is that which the vendor makes unasked", async () => {
  await using town = await openTaskTown();
  const name = "models/veo-3.1-generate-preview/operations/o-1";
  const video = { uri: "https://google.example/v1beta/files/x:download?alt=media" };
  const response = { generateVideoResponse: { generatedSamples: [{ video }] } };
  const transport = {
    send: async ({ method }: { readonly method: string }) =>
      jsonAnswer(200, method === "POST" ? { name } : { name, done: true, response }),
  };
  const provider = arkProvider("veo", { kind: "gemini", baseUrl: "https://google.example/v1beta" });
  const perSecond = { id: "prc_2", model: "seedance", table: { videoSeconds: 400_000_000_000 }, effectiveFrom: 0 };
  const deployments = [arkDeployment("veo", 1, { provider, upstreamModel: "veo-3.1-generate-preview" })];
  const models = [{ ...seedance, deployments, price: perSecond }];
  const { videos } = openTaskSetup(town, { transport, models });
  const { id, reservedNanoUsd } = await videos.create(createCall(town, { prompt: "a cat" }, { models }));
  videos.start();
  await passTime(town.clock, 20_000);
  const { state, costNanoUsd, usage } = await videos.get("ws_1", id);
  expect([state, costNanoUsd, usage?.videoSeconds, reservedNanoUsd]).toEqual([
    "succeeded",
    3_200_000_000,
    8,
    3_200_000_000,
  ]);
  expect((await entriesOf(town)).map(({ usageSource }) => usageSource)).toEqual(["estimated"]);
  await videos.stop();
});

test("a budget that a task may not fit into refuses it before anything is sent, and a finished task frees it", async () => {
  await using town = await openTaskTown(1, { ends: () => "failed" });
  const { videos, journal } = openTaskSetup(town);
  const poor = governedPrincipal({ key: { budget: { nanoUsd: 1_500_000_000, period: "day" } } });
  const call = () => createCall(town, catOnRoof, { principal: poor });
  await videos.create(call());
  const failure = await failureOf(videos.create(call()));
  expect([failure.code, town.ark.made.size]).toEqual(["budget_held", 1]);
  expect(journal.entries.map(({ outcome, errorCode, endpoint }) => [outcome, errorCode, endpoint])).toEqual([
    ["rejected", "budget_held", "video"],
  ]);
  videos.start();
  await passTime(town.clock, 60_000);
  expect((await videos.create(call())).state).toBe("queued");
  await videos.stop();
});

test("after a restart open tasks are reserved again, whatever the budget says, and settled as before", async () => {
  await using town = await openTaskTown();
  const poor = governedPrincipal({ key: { budget: { nanoUsd: 1_200_000_000, period: "total" } } });
  const before = openTaskSetup(town);
  const made = await before.videos.create(createCall(town, catOnRoof, { principal: poor }));
  const after = openTaskSetup(town, { principalOf: () => poor });
  expect(await after.videos.restoreHolds()).toBe(1);
  expect(await budgetUsed(after, poor)).toBeCloseTo(1.08, 6);
  after.videos.start();
  await passTime(town.clock, 60_000);
  expect((await after.videos.get("ws_1", made.id)).state).toBe("succeeded");
  expect([await budgetUsed(after, poor), after.videos.held]).toEqual([1, 0]);
  await after.videos.stop();
});

test("after a restart what a person's tasks may cost is held for that person again", async () => {
  await using town = await openTaskTown();
  const ada = governedPrincipal({ person: { budget: { nanoUsd: 1_200_000_000, period: "month" } } });
  await openTaskSetup(town).videos.create(createCall(town, catOnRoof, { principal: ada }));
  const { scopes, ...others } = ada;
  const withoutPerson = { ...others, person: null, scopes: scopes.filter(({ kind }) => kind !== "person") };
  const principalOf = ({ personId }: { personId?: string }) => (personId === ada.person ? ada : withoutPerson);
  const after = openTaskSetup(town, { principalOf });
  await after.videos.restoreHolds();
  expect(await budgetUsed(after, ada)).toBeCloseTo(1.08, 6);
});

test("a process learns of tasks that another one ended, and lets go of what it had set aside", async () => {
  await using town = await openTaskTown();
  const accepting = openTaskSetup(town);
  const polling = openTaskSetup(town);
  await accepting.videos.create(createCall(town, catOnRoof));
  polling.videos.start();
  await passTime(town.clock, 60_000);
  expect(accepting.videos.held).toBe(1);
  await polling.videos.stop();
  accepting.videos.start();
  await passTime(town.clock, 10_000);
  expect([accepting.videos.held, await budgetUsed(accepting)]).toEqual([0, 1]);
  await accepting.videos.stop();
});
