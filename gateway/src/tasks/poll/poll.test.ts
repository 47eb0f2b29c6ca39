import { expect, test } from "bun:test";
import {
  arkDeployment,
  catOnRoof,
  createCall,
  entriesOf,
  openTaskSetup,
  openTaskTown,
  passTime,
  seedance,
} from "../../../test/simulation/task-setup.ts";

test("looks that fail end nothing: the task goes on when its upstream is well again", async () => {
  let ill = true;
  await using town = await openTaskTown(1, { poll: () => (ill ? { status: 500 } : null) });
  const { videos } = openTaskSetup(town);
  const made = await videos.create(createCall(town, catOnRoof));
  videos.start();
  await passTime(town.clock, 300_000, 1_000);
  expect((await videos.get("ws_1", made.id)).state).toBe("queued");
  ill = false;
  await passTime(town.clock, 60_000, 1_000);
  expect((await videos.get("ws_1", made.id)).state).toBe("succeeded");
  await videos.stop();
});

test("operators can see how late tasks are looked at", async () => {
  await using town = await openTaskTown(1, { queuedMs: 3_600_000 });
  const { videos } = openTaskSetup(town);
  await videos.create(createCall(town, catOnRoof));
  await passTime(town.clock, 600_000, 10_000);
  expect(videos.lateMs).toBe(0);
  videos.start();
  await passTime(town.clock, 50, 50);
  expect(videos.lateMs).toBeGreaterThan(500_000);
  await passTime(town.clock, 120_000, 1_000);
  expect(videos.lateMs).toBeLessThan(2_000);
  // Nothing is looked at while the store is away.
  town.clock.advance(900_000);
  expect(videos.lateMs).toBeGreaterThan(800_000);
  await videos.stop();
  expect(videos.lateMs).toBe(0);
});

test("a vendor that no longer knows a task is believed only when it has said so for ten minutes", async () => {
  await using town = await openTaskTown(1, { ends: () => "vanished", queuedMs: 5_000 });
  const { videos } = openTaskSetup(town);
  const made = await videos.create(createCall(town, catOnRoof));
  videos.start();
  await passTime(town.clock, 300_000, 2_000);
  expect((await videos.get("ws_1", made.id)).finishedAt).toBeNull();
  await passTime(town.clock, 400_000, 2_000);
  expect(await videos.get("ws_1", made.id)).toMatchObject({
    state: "failed",
    error: { code: "task_gone" },
    // Nobody has said that it was not made: it is booked as it was set aside.
    costNanoUsd: made.reservedNanoUsd,
  });
  await videos.stop();
});

test("one account is not asked more often than its vendor allows, and nobody is passed over", async () => {
  await using town = await openTaskTown(1, { queuedMs: 0, runningMs: 60_000 });
  const one = { ...seedance, deployments: [arkDeployment("first")] };
  const { videos } = openTaskSetup(town, { models: [one] });
  for (let index = 0; index < 60; index++) await videos.create(createCall(town, catOnRoof, { models: [one] }));
  const sentBefore = town.ark.sent.length;
  videos.start();
  await passTime(town.clock, 30_000, 250);
  const polled = town.ark.sent.length - sentBefore;
  expect(polled).toBeLessThanOrEqual(5 * 30 + 1);
  expect(polled).toBeGreaterThan(100);
  expect([...town.ark.made.values()].filter(({ polls }) => polls === 0)).toEqual([]);
  await passTime(town.clock, 90_000, 250);
  expect((await entriesOf(town)).length).toBe(60);
  await videos.stop();
});

test("an upstream's callback only makes the next look come sooner, and only with the task's own token", async () => {
  await using town = await openTaskTown(1, { queuedMs: 0, runningMs: 200_000 });
  const { videos } = openTaskSetup(town);
  const made = await videos.create(createCall(town, catOnRoof));
  const { callbackUrl } = town.ark.made.get("cgt-000001") ?? {};
  const token = decodeURIComponent(callbackUrl?.split("/").at(-1) ?? "");
  videos.start();
  await passTime(town.clock, 201_000);
  const polls = (): number => town.ark.made.get("cgt-000001")?.polls ?? 0;
  const before = polls();
  const body = new TextEncoder().encode('{"id":"cgt-000001","status":"failed"}');
  expect(await videos.hint(made.id, "guessed", async () => body)).toBe(false);
  expect(await videos.hint(made.id, token, async () => new TextEncoder().encode('{"id":"cgt-000009"}'))).toBe(false);
  for (let copy = 0; copy < 3; copy++) expect(await videos.hint(made.id, token, async () => body)).toBe(true);
  await passTime(town.clock, 1_000);
  expect(polls()).toBe(before + 1);
  expect((await videos.get("ws_1", made.id)).state).toBe("succeeded");
  expect(await entriesOf(town)).toHaveLength(1);
  await videos.stop();
});
