import { afterEach, expect, test } from "bun:test";
import { abortSignalOf, bounds, Failure } from "#core/index.ts";
import { systemClock } from "#system/index.ts";
import { deliveryLeaseMs } from "#tasks/deliver/deliveries.ts";
import { createTransport } from "#upstream/index.ts";
import { until } from "../../../test/until.ts";
import { SmallWeb } from "../assets/web.ts";
import { transportOf } from "../sending-transport.ts";
import { KillableProcess } from "./killable-process.ts";
import {
  catOnRoof,
  createCall,
  openTaskSetup,
  openTaskWorld,
  passTime,
  type TaskSetup,
  type TaskWorld,
  webhookSecret,
} from "./task-setup.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

const hook = "https://hooks.caller.example/videos?of=acme";
const longEnoughMs = 40_000;

interface WebhookSetup extends AsyncDisposable {
  readonly world: TaskWorld;
  readonly web: SmallWeb;
  readonly receiver: WebhookReceiver;
}

/** A vendor, and a caller's host on a simulated web. */
async function openWebhookSetup(): Promise<WebhookSetup> {
  const world = await openTaskWorld();
  const web = new SmallWeb();
  const receiver = new WebhookReceiver(webhookSecret, world.clock);
  web.elsewhere = world.ark;
  web.page(hook, receiver.page);
  return { world, web, receiver, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const running: TaskSetup[] = [];
afterEach(async () => {
  for (const { videos } of running.splice(0)) await videos.stop();
});

function startGateway({ world, web }: WebhookSetup, killable: KillableProcess | null = null): TaskSetup {
  const gateway = openTaskSetup(world, {
    transport: killable?.transport(web) ?? web,
    ...(killable === null ? {} : { clock: killable.clock(world.clock), store: killable.store(world.taskStore) }),
  });
  gateway.videos.start();
  running.push(gateway);
  return gateway;
}

async function order({ world }: WebhookSetup, { videos }: TaskSetup, body: object = {}): Promise<string> {
  return (await videos.create(createCall(world, { ...catOnRoof, callback_url: hook, ...body }))).id;
}

test("sends one genuine message by Standard Webhooks, with the task as its owner reads it", async () => {
  await using setup = await openWebhookSetup();
  const { world, receiver, web } = setup;
  const gateway = startGateway(setup);
  const id = await order(setup, gateway, { metadata: { scene: 4 } });
  await passTime(world.clock, longEnoughMs);
  await passTime(world.clock, 24 * 3_600_000, 60_000);
  const [message, ...more] = receiver.messages;
  expect(more).toEqual([]);
  expect(message?.genuine).toBe(true);
  expect(message?.id).toStartWith("msg_");
  expect(JSON.parse(message?.body ?? "")).toMatchObject({
    type: "video.task.succeeded",
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    data: { id, status: "succeeded", metadata: { scene: 4 }, cost: { estimated: false } },
  });
  // The URL belongs to a caller, so it must not be in the private network, and no key is sent to it.
  const [sent] = web.requests.filter(({ url }) => url === hook);
  expect(sent).toMatchObject({ method: "POST", allowPrivateNetwork: false });
  expect(Object.keys(sent?.headers ?? {}).toSorted()).toEqual([
    "content-type",
    "user-agent",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
  ]);
});

test("a message that was changed or delayed is not genuine", async () => {
  await using setup = await openWebhookSetup();
  const { world, receiver, web } = setup;
  await order(setup, startGateway(setup));
  await passTime(world.clock, longEnoughMs);
  const [sent] = web.requests.filter(({ url }) => url === hook);
  if (sent === undefined || !(sent.body instanceof Uint8Array)) throw new Error("no message");
  const text = new TextDecoder().decode(sent.body);
  const changed = new TextEncoder().encode(text.replace("succeeded", "failed___"));
  await receiver.page({ ...sent, body: changed });
  await receiver.page({ ...sent, headers: { ...sent.headers, "webhook-id": "msg_2" } });
  world.clock.advance(301_000);
  await receiver.page(sent);
  expect(receiver.messages.map(({ genuine }) => genuine)).toEqual([true, false, false, false]);
});

test.each([
  ["an error", () => new Response(null, { status: 500 })],
  ["a redirect, which is not followed", () => new Response(null, { status: 302, headers: { location: hook } })],
  ["no answer", () => Promise.reject(new Failure("upstream_timeout", "The host does not answer."))],
  [
    "a refused connection",
    () => Promise.reject(new Failure("upstream_unreachable", "Connection refused.", { arrival: "unsent" })),
  ],
])("retries a host with %s, at growing intervals, with the same id and a new signature", async (_, bad) => {
  await using setup = await openWebhookSetup();
  const { world, receiver } = setup;
  const gateway = startGateway(setup);
  receiver.answer = bad;
  const id = await order(setup, gateway);
  await passTime(world.clock, longEnoughMs);
  await passTime(world.clock, 900_000, 2_000);
  expect(receiver.messages.length).toBe(4);
  receiver.answer = () => new Response(null, { status: 200 });
  await passTime(world.clock, 3_600_000, 5_000);
  const { messages } = receiver;
  expect(messages.length).toBe(5);
  expect(messages.every(({ genuine }) => genuine)).toBe(true);
  expect(new Set(messages.map((one) => one.id)).size).toBe(1);
  expect(new Set(messages.map((one) => one.body)).size).toBe(1);
  expect(new Set(messages.map((one) => one.signature)).size).toBe(5);
  const waits = messages.slice(1).map(({ at }, index) => at - (messages[index]?.at ?? 0));
  for (const [index, expected] of [5_000, 30_000, 120_000, 900_000].entries()) {
    // Ten percent of jitter on either side, and the time of one poller round and one step of this clock.
    expect(waits[index]).toBeGreaterThanOrEqual(expected * 0.9);
    expect(waits[index]).toBeLessThanOrEqual(expected * 1.1 + bounds.taskTickMs + 5_000);
  }
  const log = await gateway.videos.deliveries("ws_1", id);
  expect(log).toMatchObject([{ tries: 5, lastStatus: 200, lastError: null, dueAt: null }]);
  expect(log[0]?.deliveredAt).toBe(messages.at(-1)?.at ?? 0);
  // The task ended long before, and was charged once.
  expect((await world.ledgerStore.page({}, null, 10)).entries).toHaveLength(1);
});

test("does not retry after a 410", async () => {
  await using setup = await openWebhookSetup();
  const { world, receiver } = setup;
  const gateway = startGateway(setup);
  receiver.answer = () => new Response(null, { status: 410 });
  const id = await order(setup, gateway);
  await passTime(world.clock, longEnoughMs);
  await passTime(world.clock, 12 * 3_600_000, 60_000);
  expect(receiver.messages).toHaveLength(1);
  expect(await gateway.videos.deliveries("ws_1", id)).toMatchObject([{ tries: 1, lastStatus: 410, dueAt: null }]);
});

test("sends a message once more when its process was killed while sending it, and once from several processes", async () => {
  await using setup = await openWebhookSetup();
  const { world, receiver } = setup;
  const killable = new KillableProcess();
  const first = startGateway(setup, killable);
  receiver.answer = () => {
    killable.kill();
    return new Response(null, { status: 200 });
  };
  await order(setup, first);
  await passTime(world.clock, longEnoughMs);
  expect(receiver.messages).toHaveLength(1);
  receiver.answer = () => new Response(null, { status: 200 });
  // The gateway cannot know whether the first message arrived, so it sends it again with the same id.
  for (let index = 0; index < 3; index++) startGateway(setup);
  await passTime(world.clock, 3_600_000, 5_000);
  expect(receiver.messages.map((one) => one.id)).toEqual(
    Array.from({ length: 2 }, () => receiver.messages[0]?.id ?? ""),
  );
});

test("keeps a message delivered when a stopped process reports an older failure later", async () => {
  await using setup = await openWebhookSetup();
  const { world, receiver } = setup;
  const killable = new KillableProcess();
  const first = startGateway(setup, killable);
  receiver.answer = () => {
    killable.stop();
    return new Response(null, { status: 500 });
  };
  const id = await order(setup, first);
  await passTime(world.clock, longEnoughMs);
  expect(receiver.messages).toHaveLength(1);
  receiver.answer = () => new Response(null, { status: 200 });
  const second = startGateway(setup);
  await passTime(world.clock, deliveryLeaseMs + 5_000);
  expect(receiver.messages).toHaveLength(2);
  killable.resume();
  await passTime(world.clock, 3_600_000, 5_000);
  expect(receiver.messages).toHaveLength(2);
  expect(await second.videos.deliveries("ws_1", id)).toMatchObject([{ lastStatus: 200, lastError: null, dueAt: null }]);
});

test("never connects to a caller's address that resolves into the private network", async () => {
  await using setup = await openWebhookSetup();
  const { world, web } = setup;
  let requestsInside = 0;
  const inside = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(String(++requestsInside)),
  });
  const url = `http://hooks.caller.example:${inside.port}/videos`;
  const outside = createTransport({ clock: systemClock, resolve: async () => ["127.0.0.1"] });
  const refusals: unknown[] = [];
  web.elsewhere = transportOf((request, signal) => {
    if (request.url !== url) return world.ark.send(request, abortSignalOf(signal));
    return outside.send(request, signal).catch((thrown: unknown) => {
      refusals.push(thrown);
      throw thrown;
    });
  });
  try {
    const gateway = startGateway(setup);
    const id = await order(setup, gateway, { callback_url: url });
    await passTime(world.clock, longEnoughMs);
    await until(() => refusals.length > 0);
    expect(requestsInside).toBe(0);
    await passTime(world.clock, 5_000);
    const [log] = await gateway.videos.deliveries("ws_1", id);
    expect(log).toMatchObject({ lastStatus: null, deliveredAt: null });
    expect(log?.lastError ?? "127.0.0.1").not.toContain("127.0.0.1");
  } finally {
    await inside.stop(true);
  }
});
