import { expect, test } from "bun:test";
import {
  budgetUsed,
  catOnRoof,
  createCall,
  failureOf,
  oneUsd,
  openTaskSetup,
  openTaskWorld,
  passTime,
} from "../../../test/simulation/task-setup.ts";

test("cancels a queued task at its vendor for free; refuses for a running or ended one", async () => {
  await using world = await openTaskWorld();
  const gateway = openTaskSetup(world);
  const { videos } = gateway;
  const queued = await videos.create(createCall(world, catOnRoof));
  expect((await videos.cancel("ws_1", queued.id)).state).toBe("cancelled");
  expect(world.ark.state("cgt-000001")).toBe("cancelled");
  expect([await budgetUsed(gateway), videos.held]).toEqual([0, 0]);

  const running = await videos.create(createCall(world, catOnRoof));
  await passTime(world.clock, 5_000);
  expect((await failureOf(videos.cancel("ws_1", running.id))).code).toBe("invalid_request");
  await passTime(world.clock, 30_000);
  expect((await failureOf(videos.cancel("ws_1", running.id))).code).toBe("conflict");
  // The vendor was never asked to delete the finished task, which would have deleted its result.
  expect(await videos.get("ws_1", running.id)).toMatchObject({ state: "succeeded", costNanoUsd: oneUsd });
  expect((await failureOf(videos.cancel("ws_1", running.id))).code).toBe("conflict");
  expect(world.ark.state("cgt-000002")).toBe("succeeded");
});

test("does not cancel a task that cannot be polled: a vendor might delete its result", async () => {
  await using world = await openTaskWorld();
  const gateway = openTaskSetup(world);
  const { videos } = gateway;
  videos.start();
  const task = await videos.create(createCall(world, catOnRoof));
  world.ark.behavior = { poll: () => ({ status: 503 }) };
  await passTime(world.clock, 30_000);
  expect(world.ark.state("cgt-000001")).toBe("succeeded");
  expect((await failureOf(videos.cancel("ws_1", task.id))).code).toBe("upstream_error");
  expect(world.ark.state("cgt-000001")).toBe("succeeded");
  world.ark.behavior = {};
  await passTime(world.clock, 60_000);
  expect(await videos.get("ws_1", task.id)).toMatchObject({ state: "succeeded", costNanoUsd: oneUsd });
  expect([await budgetUsed(gateway), videos.held]).toEqual([1, 0]);
  await videos.stop();
});
