import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import { until } from "../../../../test/until.ts";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, type Overrides, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import * as messages from "../message-batches/ended.ts";
import { chatRow, clientOf, createBatch, ended, linesOf } from "./batch-client.ts";
import { rowCost } from "./batch-gateway.ts";
import { BatchVendor } from "./batch-vendor.ts";

let vendor: BatchVendor;
let gateway: StartedGateway | null = null;
beforeEach(() => {
  vendor = new BatchVendor();
});
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
  vendor.stop();
});

const price = { input: 1, output: 10 };
const minute = 60_000;
const hour = 60 * minute;

function config(kind: "openai" | "anthropic" | "gemini", more: Overrides = {}): Overrides {
  const base_url = kind === "gemini" ? `${vendor.origin}/v1beta` : vendor.url;
  return {
    providers: (simulator) => [upstream("main", simulator, { kind, base_url, settings: { batches: true } })],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "vendor-model" }], price },
      { name: "claude-test", deployments: [{ provider: "main", upstream_model: "vendor-claude" }], price },
      { name: "gemini-test", deployments: [{ provider: "main", upstream_model: "vendor-gemini" }], price },
    ],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.01, period: "total" } }],
    ...more,
  };
}

function vendorBatch(): BatchVendor["batches"][number] {
  const [batch] = vendor.batches;
  if (batch === undefined) throw new Error("the vendor has no batch");
  return batch;
}

const many = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    chatRow(`row ${n}`, {}, { messages: [{ role: "user", content: `prompt ${n}` }] }),
  );

describe("OpenAI's batches", () => {
  test("run rows at half the price, under other names, and hold half of their worst case", async () => {
    gateway = await startGateway(config("openai"));
    const client = clientOf(gateway);
    // At the normal price the budget is enough for fewer than 180 rows.
    const batch = await createBatch(client, many(180));
    await until(() => vendor.batches.length === 1);
    expect(vendor.batches[0]?.rows[7]).toMatchObject({
      custom_id: `row-7-${batch.id.slice("batch_".length)}`,
      body: { model: "vendor-model", max_tokens: 5 },
    });
    expect(gateway.gateway.outstanding()).toBe(1);
    vendor.end();
    const done = await ended(client, batch.id);
    expect(done).toMatchObject({ status: "completed", request_counts: { total: 180, completed: 180, failed: 0 } });
    const lines = await linesOf(client, done.output_file_id);
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(many(180).map((_, n) => `row ${n}`));
    const entries = (await gateway.entries()).filter(({ batchId }) => batchId === batch.id);
    expect(entries).toHaveLength(180);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        costNanoUsd: rowCost / 2,
        served: "batch",
        provider: "main",
        upstreamModel: "vendor-model",
        usageSource: "upstream",
      });
    }
    expect(gateway.gateway.outstanding()).toBe(0);
    const used = (await (await gateway.get("/v1/usage")).json()) as {
      limits: readonly { kind: string; used: number }[];
    };
    expect(used.limits.find(({ kind }) => kind === "budget")?.used).toBeCloseTo((180 * rowCost) / 2 / 1e9, 9);
  });

  test("are canceled at the vendor; finished rows are charged, the others are free", async () => {
    vendor.endOf = (row) => (row === 1 ? "answered" : row === 2 ? "failed" : "left");
    gateway = await startGateway(config("openai"));
    const client = clientOf(gateway);
    const batch = await createBatch(client, many(4));
    await until(() => vendor.batches.length === 1);
    await client.batches.cancel(batch.id);
    const done = await ended(client, batch.id);
    expect(done).toMatchObject({ status: "cancelled", request_counts: { total: 4, completed: 1, failed: 3 } });
    const errors = await linesOf(client, done.error_file_id);
    expect(
      errors.map(({ custom_id, error, response }) => `${custom_id} ${error?.code ?? response?.status_code}`),
    ).toEqual([...["row 0 batch_cancelled", "row 2 400", "row 3 batch_cancelled"]]);
    const entries = (await gateway.entries()).filter(({ batchId }) => batchId === batch.id);
    expect(entries.map(({ customId, costNanoUsd }) => [customId, costNanoUsd]).sort()).toEqual([
      ["row 1", rowCost / 2],
      ["row 2", 0],
    ]);
  });

  test("are not created twice when the answer to their creation is lost", async () => {
    vendor.failing = { status: 502, created: true };
    gateway = await startGateway(config("openai"));
    const client = clientOf(gateway);
    const batch = await createBatch(client, many(3));
    await until(() => vendor.batches.length === 1);
    vendor.end();
    expect((await ended(client, batch.id)).request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
    expect(vendor.batches).toHaveLength(1);
  });

  test("are not created twice when the vendor closes a kept connection instead of answering", async () => {
    const sockets = new Set<Socket>();
    const proxy = createServer((caller) => {
      sockets.add(caller);
      const through = connect(Number(new URL(vendor.origin).port), "127.0.0.1");
      caller.on("error", () => through.destroy()).on("close", () => through.destroy());
      through.on("error", () => caller.destroy());
      caller.pipe(through).pipe(caller);
    });
    await once(proxy.listen(0, "127.0.0.1"), "listening");
    const { port } = proxy.address() as AddressInfo;
    const clock = new MovedClock();
    vendor.now = () => clock.now();
    // The second creation uses the connection of the first one, after a silence.
    vendor.failing = { status: 429, created: false };
    let creations = 0;
    vendor.beforeAnswer = (method, path) => {
      if (method !== "POST" || path !== "/v1/batches" || ++creations !== 2) return;
      for (const socket of sockets) socket.destroy();
    };
    try {
      gateway = await startGateway({
        ...config("openai", { clock }),
        providers: (simulator) => [
          upstream("main", simulator, {
            ...{ kind: "openai", base_url: `http://127.0.0.1:${port}/v1`, settings: { batches: true } },
          }),
        ],
      });
      const client = clientOf(gateway);
      const batch = await createBatch(client, many(3));
      const { kysely } = gateway.control.database;
      const stored = () => kysely.selectFrom("batches").selectAll().executeTakeFirstOrThrow();
      await until(async () => creations === 1 && (await stored()).lease === null);
      // Another call keeps the connection open until then.
      clock.move(20_000);
      await gateway.post("/v1/chat/completions", {
        ...{ model: "gpt-test", max_tokens: 5, messages: [{ role: "user", content: "hi" }] },
      });
      expect(vendor.calls).toBe(1);
      clock.move(10_000);
      await until(async () => creations === 2 && (await stored()).lease === null);
      await until(async () => {
        vendor.end();
        clock.move(1_000);
        return (await client.batches.retrieve(batch.id)).status === "completed";
      });
      expect(vendor.batches).toHaveLength(1);
    } finally {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    }
  });

  test("stay with their process while the vendor takes minutes to answer a creation", async () => {
    const clock = new MovedClock();
    vendor.now = () => clock.now();
    gateway = await startGateway(config("openai", { clock }));
    const { kysely } = gateway.control.database;
    const stored = () => kysely.selectFrom("batches").selectAll().executeTakeFirstOrThrow();
    const [received, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const seen: string[] = [];
    vendor.beforeAnswer = async (method, path) => {
      seen.push(`${method} ${path}`);
      if (method !== "POST" || path !== "/v1/batches") return;
      received.resolve();
      await answered.promise;
    };
    const client = clientOf(gateway);
    const batch = await createBatch(client, many(3));
    await received.promise;
    const { lease } = await stored();
    for (let seconds = 0; seconds < 100; seconds += 20) {
      clock.move(20_000);
      await until(async () => Number((await stored()).leased_until) > clock.now() + 20_000);
    }
    expect((await stored()).lease).toBe(lease);
    answered.resolve();
    await until(async () => (await stored()).upstream_id !== null);
    vendor.end();
    await until(async () => {
      clock.move(1_000);
      return (await client.batches.retrieve(batch.id)).status === "completed";
    });
    expect(seen.filter((one) => one === "POST /v1/batches")).toHaveLength(1);
    expect(seen).not.toContain("GET /v1/batches");
  });

  test("are not created again while the vendor's list may not reach back to their creation", async () => {
    const clock = new MovedClock();
    vendor.now = () => clock.now();
    vendor.failing = { status: 502, created: true };
    gateway = await startGateway(config("openai", { clock }));
    const client = clientOf(gateway);
    const batch = await createBatch(client, many(3));
    await until(() => vendor.batches.length === 1);
    const others = Array.from({ length: 100 }, (_, n) => `foreign_${n}`);
    for (const id of others) vendor.batches.push({ ...vendorBatch(), id, ourId: "of another", createdAt: clock.now() });
    let searches = 0;
    vendor.beforeAnswer = (method, path) => void (method === "GET" && path === "/v1/batches" && searches++);
    await until(() => {
      clock.move(2 * minute);
      return searches > 10;
    });
    expect(vendor.batches).toHaveLength(101);
    vendor.batches.splice(1);
    vendor.end();
    await until(async () => {
      clock.move(30_000);
      return (await client.batches.retrieve(batch.id)).status === "completed";
    });
    expect(vendor.batches).toHaveLength(1);
  });

  test("charge the input of rows that have no readable line in the result", async () => {
    const megabytes = "x".repeat(9 * 1024 * 1024);
    vendor.changeLine = (line, row) => {
      if (row === 0) return line.slice(0, -1);
      return row === 1 ? line.replace('"role":"assistant"', `"role":"assistant","more":"${megabytes}"`) : line;
    };
    gateway = await startGateway(config("openai"));
    const client = clientOf(gateway);
    const batch = await createBatch(client, many(3));
    await until(() => vendor.batches.length === 1);
    vendor.end();
    const done = await ended(client, batch.id);
    expect(done).toMatchObject({ status: "completed", request_counts: { total: 3, completed: 1, failed: 2 } });
    const errors = await linesOf(client, done.error_file_id);
    expect(errors.map(({ custom_id, response }) => [custom_id, response?.status_code])).toEqual([
      ["row 0", 502],
      ["row 1", 502],
    ]);
    const entries = (await gateway.entries()).filter(({ batchId }) => batchId === batch.id);
    const sources = new Map(entries.map((entry) => [entry.customId, entry.usageSource]));
    expect(sources).toEqual(
      new Map([
        ["row 2", "upstream"],
        ["row 0", "estimated"],
        ["row 1", "estimated"],
      ]),
    );
    for (const { costNanoUsd } of entries) expect(costNanoUsd).toBeGreaterThan(0);
  });

  test("are not sent once their key is disabled", async () => {
    vendor.failing = { status: 429, created: false };
    const clock = new MovedClock();
    gateway = await startGateway(config("openai", { clock }));
    const batch = await createBatch(clientOf(gateway), many(2));
    await until(() => vendor.failing === null);
    const { kysely } = gateway.control.database;
    const stored = () => kysely.selectFrom("batches").selectAll().where("id", "=", batch.id).executeTakeFirstOrThrow();
    await kysely.updateTable("api_keys").set({ enabled: 0 }).execute();
    await until(async () => {
      clock.move(1_000);
      return (await stored()).state === "canceled";
    });
    expect(vendor.batches).toHaveLength(0);
  });

  test("that the vendor refuses end with its error, and are free", async () => {
    vendor.failing = { status: 400, created: false };
    gateway = await startGateway(config("openai"));
    const client = clientOf(gateway);
    const batch = await createBatch(client, many(3));
    const done = await ended(client, batch.id);
    expect(done.request_counts).toEqual({ total: 3, completed: 0, failed: 3 });
    expect((await gateway.entries()).filter(({ batchId }) => batchId === batch.id)).toEqual([]);
    expect(gateway.gateway.outstanding()).toBe(0);
  });

  test("continue after a restart, and settle each row once", async () => {
    const first = await startGateway(config("openai"));
    const batch = await createBatch(clientOf(first), many(5));
    await until(() => vendor.batches.length === 1);
    await first.gateway.close();
    vendor.end();
    gateway = await startGateway(config("openai", { environment: { dataDir: first.dataDir } }));
    expect((await ended(clientOf(gateway), batch.id)).request_counts).toEqual({ total: 5, completed: 5, failed: 0 });
    expect((await gateway.entries()).filter(({ batchId }) => batchId === batch.id)).toHaveLength(5);
    expect(vendor.batches).toHaveLength(1);
    first.simulator.stop();
    await gateway.stop();
    gateway = null;
    rmSync(first.dataDir, { recursive: true, force: true });
  });
});

test("Anthropic's batches run rows at half the price, and their results come from the account's own address", async () => {
  vendor.endOf = (row) => (row === 1 ? "failed" : "answered");
  gateway = await startGateway(config("anthropic"));
  const client = new Anthropic({ apiKey: aliceKey, baseURL: gateway.url, maxRetries: 0 });
  const params = { model: "claude-test", max_tokens: 5, messages: [{ role: "user" as const, content: "hi" }] };
  const { id } = await client.messages.batches.create({
    requests: ["a", "b", "c"].map((custom_id) => ({ custom_id, params })),
  });
  await until(() => vendor.batches.length === 1);
  expect(vendor.batches[0]?.rows[0]).toEqual({
    custom_id: `row-0-${id.slice("msgbatch_".length)}`,
    body: { ...params, model: "vendor-claude" },
  });
  vendor.end();
  expect((await messages.ended(client, id)).request_counts).toMatchObject({ succeeded: 2, errored: 1 });
  const types: string[] = [];
  for await (const { custom_id, result } of await client.messages.batches.results(id))
    types.push(`${custom_id} ${result.type}`);
  expect(types).toEqual(["a succeeded", "b errored", "c succeeded"]);
  const entries = (await gateway.entries()).filter(({ batchId }) => batchId !== undefined);
  expect(entries.map(({ costNanoUsd }) => costNanoUsd).sort()).toEqual([0, rowCost / 2, rowCost / 2]);
});

const params = { model: "claude-test", max_tokens: 5, messages: [{ role: "user" as const, content: "hi" }] };
const two = ["a", "b"].map((custom_id) => ({ custom_id, params }));

test("Anthropic's batch without an answer to its creation never gets the answers of another one in the same account", async () => {
  const clock = new MovedClock();
  vendor.now = () => clock.now();
  vendor.failing = { status: 502, created: false };
  gateway = await startGateway(config("anthropic", { clock }));
  const client = new Anthropic({ apiKey: aliceKey, baseURL: gateway.url, maxRetries: 0 });
  const { id } = await client.messages.batches.create({ requests: two });
  await until(() => vendor.failing === null);
  // Of another gateway, and of another workspace of this one.
  const foreign = ["row-0", "row-1-01ARZ3NDEKTSV4RRFFQ69G5FAV"].map((custom_id) => ({ custom_id, body: params }));
  vendor.batches.push({ id: "foreign", ourId: null, rows: foreign, createdAt: clock.now(), status: "completed" });
  await until(async () => {
    clock.move(2 * minute);
    vendor.end();
    return (await client.messages.batches.retrieve(id)).processing_status === "ended";
  });
  expect((await messages.ended(client, id)).request_counts).toMatchObject({ succeeded: 2, errored: 0 });
  expect(vendor.batches).toHaveLength(2);
  const results = await (await gateway.get(`/v1/messages/batches/${id}/results`)).text();
  expect(results).not.toContain('row-0"');
});

test("Anthropic's batch without an answer to its creation is found although the results of another batch cannot be read", async () => {
  const clock = new MovedClock();
  vendor.now = () => clock.now();
  gateway = await startGateway(config("anthropic", { clock }));
  const client = new Anthropic({ apiKey: aliceKey, baseURL: gateway.url, maxRetries: 0 });
  const rows = two.map(({ custom_id }) => ({ custom_id, body: params }));
  vendor.batches.push({ id: "foreign", ourId: null, rows, createdAt: clock.now(), status: "completed" });
  vendor.withoutResults.add("foreign");
  vendor.failing = { status: 502, created: true };
  const { id } = await client.messages.batches.create({ requests: two });
  await until(() => vendor.failing === null);
  vendor.end();
  await until(async () => {
    clock.move(10_000);
    return (await client.messages.batches.retrieve(id)).processing_status === "ended";
  });
  expect((await client.messages.batches.retrieve(id)).request_counts).toMatchObject({ succeeded: 2 });
  expect(vendor.batches).toHaveLength(2);
});

test("Anthropic's batches of the same size are created once each when the answers to their creations are lost", async () => {
  const clock = new MovedClock();
  vendor.now = () => clock.now();
  gateway = await startGateway(config("anthropic", { clock }));
  const client = new Anthropic({ apiKey: aliceKey, baseURL: gateway.url, maxRetries: 0 });
  const create = async (created: boolean) => {
    vendor.failing = { status: 502, created };
    const { id } = await client.messages.batches.create({ requests: two });
    await until(() => vendor.failing === null);
    return id;
  };
  const ids = [await create(false), await create(true)];
  await until(async () => {
    clock.move(2 * minute);
    vendor.end();
    const batches = await Promise.all(ids.map((id) => client.messages.batches.retrieve(id)));
    return batches.every(({ processing_status }) => processing_status === "ended");
  });
  const ran = vendor.batches.map(({ rows }) => rows[0]?.custom_id.replace("row-0-", "msgbatch_"));
  expect(ran.sort()).toEqual(ids.sort());
  for (const id of ids) {
    expect((await client.messages.batches.retrieve(id)).request_counts).toMatchObject({ succeeded: 2 });
  }
});

test("Anthropic's batch without an answer to its creation, with candidates that do not end, is given up an hour after its expiry", async () => {
  const clock = new MovedClock();
  vendor.now = () => clock.now();
  vendor.failing = { status: 502, created: true };
  gateway = await startGateway(config("anthropic", { clock }));
  const client = new Anthropic({ apiKey: aliceKey, baseURL: gateway.url, maxRetries: 0 });
  let searches = 0;
  vendor.beforeAnswer = (method, path) => {
    if (method !== "GET" || path !== "/v1/messages/batches") return;
    searches++;
  };
  const { id } = await client.messages.batches.create({ requests: two });
  await until(() => vendor.failing === null);
  vendor.batches.push({
    ...vendorBatch(),
    id: "foreign",
    rows: two.map(({ custom_id }) => ({ custom_id, body: params })),
  });
  const state = async () => (await client.messages.batches.retrieve(id)).processing_status;
  const { kysely } = gateway.control.database;
  const stored = () => kysely.selectFrom("batches").selectAll().executeTakeFirstOrThrow();
  const searchAt = async (at: number) => {
    await until(async () => {
      const { lease, due_at } = await stored();
      return lease === null && Number(due_at) > clock.now();
    });
    const before = searches;
    clock.move(at - clock.now());
    await until(() => searches > before);
  };
  const { submitted_at, expires_at } = await stored();
  // Before and after the time at which a batch that is in no list is created again, and up to an hour after the expiry.
  await searchAt(Number(submitted_at) + 5 * minute);
  await searchAt(Number(submitted_at) + 2 * hour);
  await searchAt(Number(expires_at) + 50 * minute);
  expect(await state()).toBe("in_progress");
  expect(vendor.batches).toHaveLength(2);
  clock.move(hour);
  await until(async () => {
    clock.move(1_000);
    return (await state()) === "ended";
  });
  expect((await messages.ended(client, id)).request_counts).toMatchObject({ succeeded: 0, errored: 2 });
  const results = await (await gateway.get(`/v1/messages/batches/${id}/results`)).text();
  expect(results).not.toContain("row-");
  expect(vendor.batches).toHaveLength(2);
  const entries = (await gateway.entries()).filter(({ batchId }) => batchId !== undefined);
  expect(entries.map(({ usageSource, httpStatus }) => [usageSource, httpStatus])).toEqual([
    ["estimated", 504],
    ["estimated", 504],
  ]);
  for (const { costNanoUsd } of entries) expect(costNanoUsd).toBeGreaterThan(0);
  expect(gateway.gateway.outstanding()).toBe(0);
});

test("rows of callers with guardrails are run by the gateway, which checks their answers", async () => {
  gateway = await startGateway(
    config("openai", { guardrails: [{ name: "keys", check: { kind: "credentials" }, action: "block" }] }),
  );
  const client = clientOf(gateway);
  const batch = await createBatch(client, many(2));
  await ended(client, batch.id);
  expect(vendor.batches).toHaveLength(0);
  expect(vendor.calls).toBe(2);
});
