import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import {
  catOnRoof,
  createCall,
  openTaskSetup,
  openTaskWorld,
  passTime,
  webhookSecret,
} from "../../../test/simulation/task-setup.ts";

test("sends a signed webhook at the end of a task and retries until the receiver accepts it", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world);
  const made = await videos.create(createCall(world, { ...catOnRoof, callback_url: "https://caller.example/hook" }));
  world.ark.messageStatus = 500;
  videos.start();
  await passTime(world.clock, 34_000);
  expect(world.ark.messages.length).toBeGreaterThanOrEqual(2);
  world.ark.messageStatus = 200;
  await passTime(world.clock, 60_000);
  const [message] = world.ark.messages;
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = message?.headers ?? {};
  const key = Buffer.from(webhookSecret.slice(6), "base64");
  const wanted = createHmac("sha256", key).update(`${id}.${at}.${message?.body}`).digest("base64");
  expect(signature).toBe(`v1,${wanted}`);
  expect(new Set(world.ark.messages.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([id]));
  expect(JSON.parse(message?.body ?? "")).toMatchObject({
    type: "video.task.succeeded",
    data: { id: made.id, object: "video.task", status: "succeeded" },
  });
  const sent = world.ark.sent.filter(({ url }) => url === "https://caller.example/hook");
  expect(sent.every(({ allowPrivateNetwork }) => !allowPrivateNetwork)).toBe(true);
  const [log] = await videos.deliveries("ws_1", made.id);
  expect(log).toMatchObject({ tries: sent.length, lastStatus: 200, dueAt: null, lastError: null });
  expect(videos.deliveryTries).toEqual({ delivered: 1, failed: sent.length - 1 });
  await videos.stop();
});

test("gives up a webhook after eight attempts over ten hours", async () => {
  await using world = await openTaskWorld();
  const { videos } = openTaskSetup(world);
  world.ark.messageStatus = 503;
  const made = await videos.create(createCall(world, { ...catOnRoof, callback_url: "https://caller.example/hook" }));
  videos.start();
  await passTime(world.clock, 12 * 3_600_000, 20_000);
  const [log] = await videos.deliveries("ws_1", made.id);
  expect(log).toMatchObject({ tries: 8, dueAt: null, lastStatus: 503, deliveredAt: null });
  expect(world.ark.messages).toHaveLength(8);
  expect(videos.deliveryTries).toEqual({ delivered: 0, failed: 8 });
  await videos.stop();
});
