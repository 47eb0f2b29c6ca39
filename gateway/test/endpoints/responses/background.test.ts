import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyConfig } from "@sluice/contract";
import type { BudgetPolicyConfig } from "@sluice/contract/config-file";
import { bounds, type LedgerEntry } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import {
  ask,
  costUsd,
  done,
  finished as finishedAt,
  never,
  price,
  settled as settledAt,
  spentUsd as spentAt,
} from "../../background-fixture.ts";
import { MovedClock } from "../../moved-clock.ts";
import { rawAnswer, startRawUpstream } from "../../raw-upstream.ts";
import {
  aliceKey,
  type ChatOptions,
  type Overrides,
  type StartedGateway,
  startGateway,
  upstream,
} from "../../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghij";
const model = (overrides: object = {}) => ({
  name: "gpt-test",
  deployments: [{ provider: "main", upstream_model: "upstream-gpt" }],
  price,
  ...overrides,
});

const keys: KeyConfig[] = [
  { name: "alice", secret: aliceKey, budget: { usd: 0.1, period: "total" } },
  { name: "bob", secret: bobKey, budget: { usd: 0.01, period: "total" } },
];

let clock: MovedClock;
let directory: string;
let gateway: StartedGateway;

function start(overrides: Overrides = {}): Promise<StartedGateway> {
  return startGateway({
    clock,
    environment: { dataDir: directory },
    providers: (simulator) => [upstream("main", simulator, { kind: "openai" })],
    models: [model()],
    keys,
    ...overrides,
  });
}

beforeEach(async () => {
  clock = new MovedClock();
  directory = mkdtempSync(join(tmpdir(), "sluice-background-"));
  gateway = await start();
});
afterEach(async () => {
  await gateway.stop();
  rmSync(directory, { recursive: true, force: true });
});

const bearer = (key = aliceKey) => ({ authorization: `Bearer ${key}` });

async function create(script: NonNullable<ChatOptions["script"]> = done): Promise<string> {
  const created = await gateway.post("/v1/responses", ask, { script });
  const { id, status } = (await created.json()) as { id: string; status: string };
  expect([created.status, status]).toEqual([200, "queued"]);
  return id;
}

const finished = (id: string): Promise<boolean> => finishedAt(gateway, id);
const settled = (count: number, stepMs?: number): Promise<readonly LedgerEntry[]> =>
  settledAt(gateway, clock, count, stepMs);
const spentUsd = (key?: string): Promise<number> => spentAt(gateway, key);

const change = (id: string, method: "POST" | "DELETE", rest = "", key = aliceKey): Promise<Response> =>
  fetch(`${gateway.url}/v1/responses/${id}${rest}`, { method, headers: bearer(key) });

const costOf = (entries: readonly LedgerEntry[]): number => entries.reduce((sum, one) => sum + one.costNanoUsd, 0);

test("reserves its cost until it is done, and is charged without being read", async () => {
  const id = await create();
  expect((await gateway.post("/v1/responses", ask, { script: done })).status).not.toBe(200);
  expect((await gateway.post("/v1/responses", ask, { script: done })).status).not.toBe(200);
  expect(costOf(await gateway.entries())).toBe(0);
  await finished(id);
  const entries = await settled(1);
  expect(entries).toMatchObject([
    { outcome: "succeeded", usageSource: "upstream", usage: { output: 7_003 }, upstreamId: id },
  ]);
  expect(await spentUsd()).toBeCloseTo(costOf(entries) / 1e9, 9);
  expect(costOf(entries) / 1e9).toBeCloseTo(costUsd, 3);
});

test("is charged when it is deleted before it was read", async () => {
  const id = await create();
  await finished(id);
  expect((await change(id, "DELETE")).status).toBe(200);
  expect(await settled(1)).toMatchObject([{ usageSource: "upstream", usage: { output: 7_003 } }]);
});

test("is charged as an estimate when it is deleted while it runs", async () => {
  const id = await create(never);
  expect((await change(id, "DELETE")).status).toBe(200);
  const [entry] = await settled(1, 30_000);
  expect(entry).toMatchObject({ usageSource: "estimated", outcome: "failed" });
  expect(entry?.costNanoUsd).toBeGreaterThan(0);
});

test("is charged to the key that created it, at the price of that moment, even if another key reads it", async () => {
  const id = await create();
  await finished(id);
  const cheaper = model({ price: { input: 1, output: 1 } });
  const providers = [upstream("main", gateway.simulator, { kind: "openai" })];
  const workspaces = [{ slug: "acme", groups: [{ name: "default" }], keys }];
  await gateway.control.controlStore.apply({ providers, models: [cheaper], workspaces }, "test");
  await gateway.gateway.configSnapshot.refresh();
  for (const query of ["", "?stream=true"]) {
    const read = await gateway.get(`/v1/responses/${id}${query}`, bearer(bobKey));
    expect([read.status, (await read.text()).includes("output_text")]).toEqual([200, true]);
  }
  const entries = await settled(1);
  expect(costOf(entries) / 1e9).toBeCloseTo(costUsd, 3);
  expect([await spentUsd(bobKey), await spentUsd()]).toEqual([0, costOf(entries) / 1e9]);
});

test("keeps its reservation and is charged after a restart", async () => {
  const first = gateway;
  const id = await create();
  await first.gateway.close();
  gateway = await start({ providers: () => [upstream("main", first.simulator, { kind: "openai" })] });
  expect((await gateway.post("/v1/responses", ask, { script: done })).status).not.toBe(200);
  expect(await settled(1)).toMatchObject([{ usage: { output: 7_003 }, upstreamId: id }]);
  first.simulator.stop();
});

test("reserves its cost on a policy of its provider, also after a restart", async () => {
  await gateway.stop();
  const vendor: BudgetPolicyConfig = { name: "vendor", usd: 0.1, period: "total", match: { providers: ["main"] } };
  const more = { budgets: [vendor], keys: [{ name: "alice", secret: aliceKey }] };
  const first = await start(more);
  gateway = first;
  await create(never);
  const refused = await gateway.post("/v1/responses", ask, { script: done });
  expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining("on policy vendor")]);
  await first.gateway.close();
  gateway = await start({ ...more, providers: () => [upstream("main", first.simulator, { kind: "openai" })] });
  expect((await gateway.post("/v1/responses", ask, { script: done })).status).toBe(429);
  first.simulator.stop();
});

test.each([404, 500])("is charged as an estimate when its vendor answers %d until the deadline", async (status) => {
  const queued = JSON.stringify({ id: "resp_lost", object: "response", status: "queued", output: [], usage: null });
  const json = "content-type: application/json\r\n";
  const raw = await startRawUpstream((socket, index) => {
    if (index === 0) socket.write(rawAnswer(queued, json));
    else socket.write(rawAnswer("{}", json).replace("200 OK", `${status} No`));
  });
  const previous = gateway;
  await previous.gateway.close();
  const provider = { ...upstream("main", previous.simulator, { kind: "openai" }), base_url: raw.url };
  gateway = await start({ providers: () => [provider] });
  expect((await gateway.post("/v1/responses", ask)).status).toBe(200);
  await until(() => {
    clock.move(1_000);
    return raw.requests.length > 1;
  });
  expect(await gateway.entries()).toEqual([]);
  expect(await spentUsd()).toBeGreaterThan(0);
  clock.move(bounds.taskDeadlineMs);
  await until(async () => {
    clock.move(30_000);
    return (await gateway.entries()).length === 1;
  });
  const [entry] = await settled(1);
  expect(entry).toMatchObject({ outcome: "failed", usageSource: "estimated", usage: { output: 7_003 } });
  expect(await spentUsd()).toBeCloseTo((entry?.costNanoUsd ?? 0) / 1e9, 9);
  previous.simulator.stop();
  raw.stop();
});

test("is charged as an estimate when it is cancelled while it runs", async () => {
  const id = await create(never);
  expect((await change(id, "POST", "/cancel")).status).toBe(200);
  const [entry] = await settled(1);
  expect(entry).toMatchObject({ outcome: "cancelled", usageSource: "estimated", upstreamId: id });
  expect(entry?.costNanoUsd).toBeGreaterThan(0);
});

test("is charged by its usage when it is cancelled after its end", async () => {
  const id = await create();
  await finished(id);
  expect((await change(id, "POST", "/cancel")).status).toBe(200);
  expect(await settled(1)).toMatchObject([{ outcome: "succeeded", usageSource: "upstream", usage: { output: 7_003 } }]);
});

test("has one entry when its caller disconnects, and none for reading it again", async () => {
  const disconnect = new AbortController();
  const script = { tokens: 40, event_ms: 5 };
  const created = await gateway.post("/v1/responses", { ...ask, stream: true }, { script, signal: disconnect.signal });
  const reader = created.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  disconnect.abort();
  const id = /"id":"(resp_[^"]+)"/.exec(first)?.[1] ?? "";
  expect((await (await gateway.get(`/v1/responses/${id}?stream=true`)).text()).includes("response.completed")).toBe(
    true,
  );
  expect(await settled(1)).toMatchObject([
    { outcome: "succeeded", usageSource: "upstream", usage: { output: 40 }, upstreamId: id },
  ]);
});

test.each([
  ["has no output tokens", { input_tokens: 9 }],
  ["is missing", null],
])("is not free where its usage %s", async (_, usage) => {
  const json = "content-type: application/json\r\n";
  const content = [{ type: "output_text", text: "a few words to be counted by their size", annotations: [] }];
  const output = [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content }];
  const completed = { id: "resp_odd", object: "response", status: "completed", output, usage };
  const raw = await startRawUpstream((socket, index) => {
    const queued = { ...completed, status: "queued", output: [], usage: null };
    socket.write(rawAnswer(JSON.stringify(index === 0 ? queued : completed), json));
  });
  const previous = gateway;
  await previous.gateway.close();
  const provider = { ...upstream("main", previous.simulator, { kind: "openai" }), base_url: raw.url };
  gateway = await start({ providers: () => [provider] });
  expect((await gateway.post("/v1/responses", ask)).status).toBe(200);
  const [entry] = await settled(1);
  expect([entry?.usageSource, (entry?.usage.output ?? 0) > 8]).toEqual(["estimated", true]);
  previous.simulator.stop();
  raw.stop();
});

test("may be read, cancelled and deleted by a key whose budget is spent", async () => {
  const id = await create(never);
  expect((await gateway.post("/v1/responses", ask)).status).not.toBe(200);
  expect((await gateway.get(`/v1/responses/${id}`)).status).toBe(200);
  expect((await change(id, "POST", "/cancel")).status).toBe(200);
  expect((await change(id, "DELETE")).status).toBe(200);
});

test("ends a stream of it with an error at shutdown", async () => {
  const id = await create({ tokens: 400, background_ms: 20 });
  await finished(id);
  const headers = { ...bearer(), "x-sim-script": '{"event_ms":20}' };
  const response = await fetch(`${gateway.url}/v1/responses/${id}?stream=true`, { headers });
  const closing = gateway.gateway.close();
  expect(await response.text()).toContain("event: response.failed\n");
  await closing;
});

test("is counted in metrics until it ends, with the age of the oldest", async () => {
  const figures = async (): Promise<readonly number[]> => {
    clock.move(6_000);
    const text = await (await gateway.get("/metrics", {})).text();
    return ["open", "oldest_seconds"].map((name) =>
      Number(new RegExp(`^sluice_background_responses_${name} (.+)$`, "m").exec(text)?.[1]),
    );
  };
  expect(await figures()).toEqual([0, 0]);
  const id = await create(never);
  await until(async () => {
    const [open = 0, oldest = 0] = await figures();
    return open === 1 && oldest > 60;
  });
  expect((await change(id, "POST", "/cancel")).status).toBe(200);
  await settled(1);
  await until(async () => (await figures()).every((figure) => figure === 0));
});
