import { afterEach, expect, test } from "bun:test";
import { abortSignalOf, bounds, Failure } from "#core/index.ts";
import { systemClock } from "#system/index.ts";
import { deliveryLeaseMs } from "#tasks/deliver/deliveries.ts";
import { createTransport } from "#upstream/index.ts";
import { until } from "../../../test/until.ts";
import { SmallWeb } from "../assets/web.ts";
import { Mortal } from "./mortal.ts";
import {
  catOnRoof,
  createCall,
  openTaskSetup,
  openTaskTown,
  passTime,
  type TaskSetup,
  type TaskTown,
  webhookSecret,
} from "./task-setup.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

const hook = "https://hooks.caller.example/videos?of=acme";
const longEnoughMs = 40_000;

interface Street extends AsyncDisposable {
  readonly town: TaskTown;
  readonly web: SmallWeb;
  readonly receiver: WebhookReceiver;
}

/** A vendor, and beside it a caller's host on a small web. */
async function openStreet(): Promise<Street> {
  const town = await openTaskTown();
  const web = new SmallWeb();
  const receiver = new WebhookReceiver(webhookSecret, town.clock);
  web.elsewhere = town.ark;
  web.page(hook, receiver.page);
  return { town, web, receiver, [Symbol.asyncDispose]: () => town[Symbol.asyncDispose]() };
}

const running: TaskSetup[] = [];
afterEach(async () => {
  for (const { videos } of running.splice(0)) await videos.stop();
});

function startGateway({ town, web }: Street, mortal: Mortal | null = null): TaskSetup {
  const gateway = openTaskSetup(town, {
    transport: mortal?.transport(web) ?? web,
    ...(mortal === null ? {} : { clock: mortal.clock(town.clock), store: mortal.store(town.taskStore) }),
  });
  gateway.videos.start();
  running.push(gateway);
  return gateway;
}

async function order({ town }: Street, { videos }: TaskSetup, body: object = {}): Promise<string> {
  return (await videos.create(createCall(town, { ...catOnRoof, callback_url: hook, ...body }))).id;
}

test("a message is genuine by the rule of Standard Webhooks, tells the task as its owner sees it, and comes once", async () => {
  await using street = await openStreet();
  const { town, receiver, web } = street;
  const gateway = startGateway(street);
  const id = await order(street, gateway, { metadata: { scene: 4 } });
  await passTime(town.clock, longEnoughMs);
  await passTime(town.clock, 24 * 3_600_000, 60_000);
  const [message, ...more] = receiver.messages;
  expect(more).toEqual([]);
  expect(message?.genuine).toBe(true);
  expect(message?.id).toStartWith("msg_");
  expect(JSON.parse(message?.body ?? "")).toMatchObject({
    type: "video.task.succeeded",
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    data: { id, status: "succeeded", metadata: { scene: 4 }, cost: { estimated: false } },
  });
  // It is a caller's address: never one of our own network, and nobody there is shown a key.
  const [sent] = web.asked.filter(({ url }) => url === hook);
  expect(sent).toMatchObject({ method: "POST", allowPrivateNetwork: false });
  expect(Object.keys(sent?.headers ?? {}).toSorted()).toEqual([
    "content-type",
    "user-agent",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
  ]);
});

test("a message changed on the way, or kept for later, is not genuine", async () => {
  await using street = await openStreet();
  const { town, receiver, web } = street;
  await order(street, startGateway(street));
  await passTime(town.clock, longEnoughMs);
  const [sent] = web.asked.filter(({ url }) => url === hook);
  if (sent === undefined || !(sent.body instanceof Uint8Array)) throw new Error("no message");
  const text = new TextDecoder().decode(sent.body);
  const changed = new TextEncoder().encode(text.replace("succeeded", "failed___"));
  await receiver.page({ ...sent, body: changed });
  await receiver.page({ ...sent, headers: { ...sent.headers, "webhook-id": "msg_2" } });
  town.clock.advance(301_000);
  await receiver.page(sent);
  expect(receiver.messages.map(({ genuine }) => genuine)).toEqual([true, false, false, false]);
});

test.each([
  ["an error", () => new Response(null, { status: 500 })],
  ["a redirect, which is not followed", () => new Response(null, { status: 302, headers: { location: hook } })],
  ["no answer", () => Promise.reject(new Failure("upstream_timeout", "It is silent."))],
  [
    "a closed door",
    () => Promise.reject(new Failure("upstream_unreachable", "Nobody is there.", { arrival: "unsent" })),
  ],
])(
  "a host with %s is tried again, each time later, with the same id and a signature of that moment",
  async (_, bad) => {
    await using street = await openStreet();
    const { town, receiver } = street;
    const gateway = startGateway(street);
    receiver.answer = bad;
    const id = await order(street, gateway);
    await passTime(town.clock, longEnoughMs);
    await passTime(town.clock, 900_000, 2_000);
    expect(receiver.messages.length).toBe(4);
    receiver.answer = () => new Response(null, { status: 200 });
    await passTime(town.clock, 3_600_000, 5_000);
    const { messages } = receiver;
    expect(messages.length).toBe(5);
    expect(messages.every(({ genuine }) => genuine)).toBe(true);
    expect(new Set(messages.map((one) => one.id)).size).toBe(1);
    expect(new Set(messages.map((one) => one.body)).size).toBe(1);
    expect(new Set(messages.map((one) => one.signature)).size).toBe(5);
    const waits = messages.slice(1).map(({ at }, index) => at - (messages[index]?.at ?? 0));
    for (const [index, wanted] of [5_000, 30_000, 120_000, 900_000].entries()) {
      // A tenth of spread on either side, and what a round of the poller and a step of this clock take.
      expect(waits[index]).toBeGreaterThanOrEqual(wanted * 0.9);
      expect(waits[index]).toBeLessThanOrEqual(wanted * 1.1 + bounds.taskTickMs + 5_000);
    }
    const log = await gateway.videos.deliveries("ws_1", id);
    expect(log).toMatchObject([{ tries: 5, lastStatus: 200, lastError: null, dueAt: null }]);
    expect(log[0]?.deliveredAt).toBe(messages.at(-1)?.at ?? 0);
    // The task itself had ended long before, and was paid once.
    expect((await town.ledgerStore.page({}, null, 10)).entries).toHaveLength(1);
  },
);

test("a host that says that nobody listens there any more is not asked again", async () => {
  await using street = await openStreet();
  const { town, receiver } = street;
  const gateway = startGateway(street);
  receiver.answer = () => new Response(null, { status: 410 });
  const id = await order(street, gateway);
  await passTime(town.clock, longEnoughMs);
  await passTime(town.clock, 12 * 3_600_000, 60_000);
  expect(receiver.messages).toHaveLength(1);
  expect(await gateway.videos.deliveries("ws_1", id)).toMatchObject([{ tries: 1, lastStatus: 410, dueAt: null }]);
});

test("a message outlives the process that began to send it, and several processes send it once", async () => {
  await using street = await openStreet();
  const { town, receiver } = street;
  const mortal = new Mortal();
  const first = startGateway(street, mortal);
  receiver.answer = () => {
    mortal.kill();
    return new Response(null, { status: 200 });
  };
  await order(street, first);
  await passTime(town.clock, longEnoughMs);
  expect(receiver.messages).toHaveLength(1);
  receiver.answer = () => new Response(null, { status: 200 });
  // Whether the first was heard nobody knows, so it is said again, under the same id.
  for (let index = 0; index < 3; index++) startGateway(street);
  await passTime(town.clock, 3_600_000, 5_000);
  expect(receiver.messages.map((one) => one.id)).toEqual(
    Array.from({ length: 2 }, () => receiver.messages[0]?.id ?? ""),
  );
});

test("what was delivered stays so, though a process that stood still comes back with an older failure", async () => {
  await using street = await openStreet();
  const { town, receiver } = street;
  const mortal = new Mortal();
  const first = startGateway(street, mortal);
  receiver.answer = () => {
    mortal.stop();
    return new Response(null, { status: 500 });
  };
  const id = await order(street, first);
  await passTime(town.clock, longEnoughMs);
  expect(receiver.messages).toHaveLength(1);
  receiver.answer = () => new Response(null, { status: 200 });
  const second = startGateway(street);
  await passTime(town.clock, deliveryLeaseMs + 5_000);
  expect(receiver.messages).toHaveLength(2);
  mortal.goOn();
  await passTime(town.clock, 3_600_000, 5_000);
  expect(receiver.messages).toHaveLength(2);
  expect(await second.videos.deliveries("ws_1", id)).toMatchObject([{ lastStatus: 200, lastError: null, dueAt: null }]);
});

test("an address of the caller's that leads into our own network is never dialled, whatever its name says", async () => {
  await using street = await openStreet();
  const { town, web } = street;
  let heard = 0;
  const inside = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(String(++heard)),
  });
  const url = `http://hooks.caller.example:${inside.port}/videos`;
  const outside = createTransport({ clock: systemClock, resolve: async () => ["127.0.0.1"] });
  const refusals: unknown[] = [];
  web.elsewhere = {
    send: (request, signal) => {
      if (request.url !== url) return town.ark.send(request, abortSignalOf(signal));
      return outside.send(request, signal).catch((thrown: unknown) => {
        refusals.push(thrown);
        throw thrown;
      });
    },
  };
  try {
    const gateway = startGateway(street);
    const id = await order(street, gateway, { callback_url: url });
    await passTime(town.clock, longEnoughMs);
    await until(() => refusals.length > 0);
    expect(heard).toBe(0);
    await passTime(town.clock, 5_000);
    const [log] = await gateway.videos.deliveries("ws_1", id);
    expect(log).toMatchObject({ lastStatus: null, deliveredAt: null });
    expect(log?.lastError ?? "127.0.0.1").not.toContain("127.0.0.1");
  } finally {
    await inside.stop(true);
  }
});
