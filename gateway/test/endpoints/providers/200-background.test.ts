import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  ask as backgroundRequest,
  costUsd,
  done,
  finished,
  never,
  price,
  settled,
  spentUsd,
} from "../../background-fixture.ts";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, type ChatOptions, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const workspace = {
  pass_through: ["main"],
  groups: [{ name: "default", pass_through: ["main"] }],
  keys: [
    {
      name: "alice",
      secret: aliceKey,
      pass_through: ["main"],
      budget: { usd: 0.1, period: "total" as const },
    },
  ],
};
const request = { ...backgroundRequest, model: "upstream-gpt" };
const path = "/v1/providers/main/v1/responses";

let clock: MovedClock;
let gateway: StartedGateway;

beforeEach(async () => {
  clock = new MovedClock();
  gateway = await startGateway({
    clock,
    providers: (simulator) => [
      upstream("main", simulator, { kind: "openai", settings: { pass_through: { price_per_call: 0 } } }),
    ],
    models: [{ name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price }],
    workspace,
  });
});
afterEach(() => gateway.stop());

async function create(script: NonNullable<ChatOptions["script"]>): Promise<string> {
  const created = await gateway.post(path, request, { script });
  const { id, status } = (await created.json()) as { id: string; status: string };
  expect([created.status, status]).toEqual([200, "queued"]);
  return id;
}

const call = (method: string, id: string): Promise<Response> =>
  fetch(`${gateway.url}${path}/${id}`, { method, headers: { authorization: `Bearer ${aliceKey}` } });

test("reserves, polls and charges a background response once", async () => {
  const id = await create(done);
  expect((await gateway.post(path, request, { script: done })).status).not.toBe(200);
  expect(await spentUsd(gateway)).toBeGreaterThan(0.06);
  await finished(gateway, id);
  expect((await call("GET", id)).status).toBe(200);
  const entries = await settled(gateway, clock, 2);
  expect(entries.find(({ upstreamId }) => upstreamId === id)).toMatchObject({
    outcome: "succeeded",
    usageSource: "upstream",
    usage: { output: 7_003 },
  });
  const cost = entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9;
  expect(cost).toBeCloseTo(costUsd, 3);
  expect(await spentUsd(gateway)).toBeCloseTo(cost, 9);
});

test("charges a stream after its caller disconnects, by the upstream's usage", async () => {
  const disconnect = new AbortController();
  const script = { tokens: 40, event_ms: 5 };
  const created = await gateway.post(path, { ...request, stream: true }, { script, signal: disconnect.signal });
  const first = new TextDecoder().decode((await created.body?.getReader().read())?.value);
  disconnect.abort();
  const id = /"id":"(resp_[^"]+)"/.exec(first)?.[1];
  expect(await settled(gateway, clock, 1)).toMatchObject([
    { outcome: "succeeded", usageSource: "upstream", usage: { output: 40 }, upstreamId: id },
  ]);
});

test("polls a response before a call deletes it", async () => {
  const id = await create(done);
  await finished(gateway, id);
  expect((await call("DELETE", id)).status).toBe(200);
  const entries = await settled(gateway, clock, 2);
  expect(entries.find(({ model }) => model === "gpt-test")).toMatchObject({
    outcome: "succeeded",
    usageSource: "upstream",
    usage: { output: 7_003 },
  });
});

test("settles a response soon after a call cancels it", async () => {
  const id = await create(never);
  expect((await gateway.post(`${path}/${id}/cancel`, {})).status).toBe(200);
  const entries = await settled(gateway, clock, 2);
  const entry = entries.find(({ model }) => model === "gpt-test");
  expect(entry).toMatchObject({ outcome: "cancelled", usageSource: "estimated", upstreamId: id });
});
