import { afterEach, beforeEach, expect, test } from "bun:test";
import { ask as asked, costUsd, done, finished, never, price, settled, spentUsd } from "../../background-ground.ts";
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
const ask = { ...asked, model: "upstream-gpt" };
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
  const made = await gateway.post(path, ask, { script });
  const { id, status } = (await made.json()) as { id: string; status: string };
  expect([made.status, status]).toEqual([200, "queued"]);
  return id;
}

const call = (method: string, id: string): Promise<Response> =>
  fetch(`${gateway.url}${path}/${id}`, { method, headers: { authorization: `Bearer ${aliceKey}` } });

test("a background response that is passed through is held, polled and charged once", async () => {
  const id = await create(done);
  expect((await gateway.post(path, ask, { script: done })).status).not.toBe(200);
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

test("one that is streamed and left goes on, and is charged as its upstream counts it", async () => {
  const leaving = new AbortController();
  const script = { tokens: 40, event_ms: 5 };
  const made = await gateway.post(path, { ...ask, stream: true }, { script, signal: leaving.signal });
  const first = new TextDecoder().decode((await made.body?.getReader().read())?.value);
  leaving.abort();
  const id = /"id":"(resp_[^"]+)"/.exec(first)?.[1];
  expect(await settled(gateway, clock, 1)).toMatchObject([
    { outcome: "succeeded", usageSource: "upstream", usage: { output: 40 }, upstreamId: id },
  ]);
});

test("it is polled before a call that is passed through deletes it", async () => {
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

test("it is settled soon after a call that is passed through cancels it", async () => {
  const id = await create(never);
  expect((await gateway.post(`${path}/${id}/cancel`, {})).status).toBe(200);
  const entries = await settled(gateway, clock, 2);
  const entry = entries.find(({ model }) => model === "gpt-test");
  expect(entry).toMatchObject({ outcome: "cancelled", usageSource: "estimated", upstreamId: id });
});
