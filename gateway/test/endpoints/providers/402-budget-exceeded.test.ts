import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway } from "../../started-gateway.ts";
import { call, ownGrant, startGranted, startVendor, type Vendor, waitForBudgets } from "./vendor.ts";

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

const withBudget = (usd: number) => ({
  ...ownGrant,
  keys: [{ name: "alice", secret: aliceKey, pass_through: ["own"], budget: { usd, period: "month" as const } }],
});

const perCall = { settings: { pass_through: { price_per_call: 0.4 } } };

async function run(gateway: StartedGateway, test: () => Promise<void>): Promise<void> {
  try {
    await waitForBudgets(gateway);
    await test();
  } finally {
    await gateway.stop();
  }
}

test("reserves and charges the price per call until the budget is spent", async () => {
  const gateway = await startGranted(vendor, perCall, { workspace: withBudget(1) });
  await run(gateway, async () => {
    const before = vendor.received.length;
    const statuses: number[] = [];
    for (let index = 0; index < 4; index++) statuses.push((await call(gateway, "GET", "/files")).status);
    expect(statuses).toEqual([200, 200, 402, 402]);
    expect(vendor.received.length - before).toBe(2);
    const [refused, , , first] = await gateway.entries();
    expect(refused).toMatchObject({
      outcome: "rejected",
      httpStatus: 402,
      endpoint: "pass-through",
      operation: "GET /files",
    });
    expect(first).toMatchObject({
      costNanoUsd: 400_000_000,
      reservedNanoUsd: 400_000_000,
      usage: { chargedRequests: 1 },
      priceVersion: "call:400000000",
    });
    expect((await gateway.control.ledgerStore.check()).faults).toEqual([]);
  });
});

test("does not let concurrent calls exceed the budget", async () => {
  const gateway = await startGranted(vendor, perCall, { workspace: withBudget(1) });
  await run(gateway, async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(gateway, "GET", "/files")));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    await Promise.all(answers.map((answer) => answer.text()));
  });
});

test("reserves the highest cost of a model call, by the price of the provider's deployment", async () => {
  const gateway = await startGranted(
    vendor,
    {},
    {
      workspace: withBudget(0.01),
      models: [
        {
          name: "ours",
          deployments: [{ provider: "own", upstream_model: "theirs" }],
          price: { input: 1, output: 1_000 },
        },
      ],
    },
  );
  await run(gateway, async () => {
    const before = vendor.received.length;
    const chat = (max_tokens: number) =>
      call(gateway, "POST", "/v1/chat/completions", {
        body: JSON.stringify({ model: "theirs", messages: [{ role: "user", content: "hi" }], max_tokens }),
        headers: { "content-type": "application/json" },
      });
    expect(await errorOf(await chat(100_000))).toMatchObject({ status: 402, code: "budget_exceeded" });
    expect(vendor.received.length).toBe(before);
    expect((await chat(5)).status).toBe(200);
  });
});

test("ends a stream in the provider's dialect when its reservation is used up", async () => {
  const models = [
    { name: "ours", deployments: [{ provider: "own", upstream_model: "theirs" }], price: { input: 0, output: 1_000 } },
  ];
  const gateway = await startGranted(vendor, {}, { workspace: withBudget(0.5), models });
  const defaultAnswer = vendor.answer;
  await run(gateway, async () => {
    let releaseNext = () => {};
    let closed = false;
    vendor.answer = async (_, response) => {
      response.on("close", () => {
        closed = true;
        releaseNext();
      });
      response.writeHead(200, { "content-type": "text/event-stream" });
      const event = {
        id: "c",
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content: "words ".repeat(20) } }],
      };
      // Send one event at a time, so that at most one exceeds the reservation even on a busy machine.
      for (let sent = 0; sent < 400 && !closed; sent++) {
        const released = new Promise<void>((resolve) => {
          releaseNext = resolve;
        });
        response.write(`data: ${JSON.stringify(event)}\n\n`);
        await released;
      }
    };
    const answer = await call(gateway, "POST", "/v1/chat/completions", {
      body: JSON.stringify({ model: "theirs", messages: [{ role: "user", content: "hi" }], stream: true }),
      headers: { "content-type": "application/json" },
    });
    expect(answer.status).toBe(200);
    let text = "";
    for await (const piece of answer.body ?? []) {
      text += Buffer.from(piece).toString("utf8");
      releaseNext();
    }
    expect(text).toContain("budget_exceeded");
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ outcome: "interrupted", errorCode: "budget_exceeded", model: "ours" });
    expect(entry?.costNanoUsd).toBeLessThan(600_000_000);
  });
  vendor.answer = defaultAnswer;
});
