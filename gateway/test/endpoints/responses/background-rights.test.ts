import { afterEach, beforeEach, expect, test } from "bun:test";
import type { KeyConfig } from "@sluice/contract";
import { until } from "../../../../test/until.ts";
import { ask, costUsd, done, finished, never, price, settled, spentUsd } from "../../background-fixture.ts";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghij";
const eveKey = "sk-eve-0123456789abcdefghij";
const models = [
  { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price },
  { name: "claude-test", deployments: [{ provider: "claude", upstream_model: "claude-up" }], price },
];
const alice = { name: "alice", secret: aliceKey, budget: { usd: 0.1, period: "total" as const } };
const bob = { name: "bob", secret: bobKey };

let clock: MovedClock;
let gateway: StartedGateway;
beforeEach(async () => {
  clock = new MovedClock();
  gateway = await startGateway({
    clock,
    providers: (simulator) => [
      upstream("main", simulator, { kind: "openai" }),
      upstream("claude", simulator, { kind: "anthropic" }),
    ],
    models,
    keys: [alice, bob],
    moreWorkspaces: [{ slug: "other", groups: [{ name: "default" }], keys: [{ name: "eve", secret: eveKey }] }],
  });
});
afterEach(() => gateway.stop());

async function create(script: object): Promise<string> {
  const created = await gateway.post("/v1/responses", ask, { script });
  expect(created.status).toBe(200);
  return ((await created.json()) as { readonly id: string }).id;
}

const call = (method: string, path: string, key: string): Promise<Response> =>
  fetch(`${gateway.url}/v1/responses/${path}`, { method, headers: { authorization: `Bearer ${key}` } });

/** Replaces the keys of the workspace, as a config file does. */
async function apply(keys: KeyConfig[]): Promise<void> {
  const providers = [
    upstream("main", gateway.simulator, { kind: "openai" }),
    upstream("claude", gateway.simulator, { kind: "anthropic" }),
  ];
  const workspaces = [{ slug: "acme", groups: [{ name: "default" }], keys }];
  await gateway.control.controlStore.apply({ providers, models, workspaces }, "test");
  await gateway.gateway.configSnapshot.refresh();
}

test("lets another key of the workspace read and cancel it, and charges the key that created it", async () => {
  const id = await create(never);
  for (const path of [id, `${id}/input_items`]) expect((await call("GET", path, bobKey)).status).toBe(200);
  expect((await call("POST", `${id}/cancel`, bobKey)).status).toBe(200);
  const [entry] = await settled(gateway, clock, 1);
  expect(entry?.outcome).toBe("cancelled");
  expect(await spentUsd(gateway)).toBeCloseTo((entry?.costNanoUsd ?? 0) / 1e9, 9);
});

test("is missing for another workspace, and continues", async () => {
  const id = await create(done);
  for (const [method, path] of [
    ["GET", id],
    ["GET", `${id}?stream=true`],
    ["GET", `${id}/input_items`],
    ["POST", `${id}/cancel`],
    ["DELETE", id],
  ] as const) {
    expect((await call(method, path, eveKey)).status).toBe(404);
  }
  await finished(gateway, id);
  expect(await settled(gateway, clock, 1)).toMatchObject([{ outcome: "succeeded", usage: { output: 7_003 } }]);
});

test.each([
  ["the upstream stores nothing (store: false)", { store: false }, 400],
  ["the model has another dialect", { model: "claude-test" }, 400],
])("is rejected without a reservation where %s", async (_, more, status) => {
  const refused = await gateway.post("/v1/responses", { ...ask, ...more });
  const error = await errorOf(refused);
  expect([error.status, error.message.length > 10]).toEqual([status, true]);
  await settled(gateway, clock, (await gateway.entries()).filter(({ outcome }) => outcome !== "rejected").length);
  expect(await spentUsd(gateway)).toBe(0);
});

test.each([
  ["the key was removed", [bob], 401],
  ["the key's budget was lowered", [{ ...alice, budget: { usd: 0.01, period: "total" as const } }, bob], 200],
])("is charged by the upstream's usage after %s", async (_, keys, status) => {
  const id = await create(done);
  await gateway.entries();
  await apply(keys);
  await until(async () => (await call("GET", id, aliceKey)).status === status);
  await finished(gateway, id);
  const entries = await settled(gateway, clock, 1);
  expect(entries).toMatchObject([{ outcome: "succeeded", usageSource: "upstream", usage: { output: 7_003 } }]);
  expect((entries[0]?.costNanoUsd ?? 0) / 1e9).toBeCloseTo(costUsd, 3);
});
