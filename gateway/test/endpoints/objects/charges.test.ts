import { afterAll, beforeAll, expect, test } from "bun:test";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, errorOf, type StartedGateway } from "../../started-gateway.ts";
import { bearer, startFilesGateway } from "../files/files-gateway.ts";

const poorKey = "sk-poor-0123456789abcdefghijkl";
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startFilesGateway({
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "poor", secret: poorKey, budget: { usd: 1, period: "month" } },
    ],
  });
});
afterAll(() => gateway.stop());

async function create(path: string, body: object, key = aliceKey): Promise<string> {
  const made = await gateway.post(path, body, { key });
  expect(made.status).toBe(200);
  return ((await made.json()) as { id: string }).id;
}
const lastCost = async () => (await gateway.entries())[0]?.costNanoUsd;

test("a container costs its idle life by its memory, and then the time since its last use", async () => {
  const id = await create("/v1/containers", { name: "small" });
  expect(await lastCost()).toBe(30_000_000);
  await create("/v1/containers", {
    ...{ name: "big", memory_limit: "16g", expires_after: { anchor: "last_active_at", minutes: 10 } },
  });
  expect(await lastCost()).toBe(240_000_000);
  expect((await gateway.get(`/v1/containers/${id}`)).status).toBe(200);
  const [used] = await gateway.entries();
  expect(used).toMatchObject({ operation: "GET /containers/{id}", upstreamModel: "container-1g" });
  expect(used?.costNanoUsd).toBeGreaterThan(0);
  // A tenth of a cent is 40 seconds.
  expect(used?.costNanoUsd).toBeLessThan(1_000_000);
});

test("a container keeps the price of its memory after a model call has used it", async () => {
  const id = await create("/v1/containers", { name: "big", memory_limit: "16g" });
  const output = [{ type: "code_interpreter_call", id: "ci_1", container_id: id, code: "1" }];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const reply = JSON.stringify({ id: "resp_1", object: "response", status: "completed", output, usage });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${reply.length}\r\nconnection: close`;
  const body = { model: "openai", input: "hi", tools: [{ type: "code_interpreter", container: id }] };
  const called = await gateway.post("/v1/responses", body, { script: { raw_reply: `${head}\r\n\r\n${reply}` } });
  expect([called.status, await called.text()]).toEqual([200, reply]);
  expect((await gateway.get(`/v1/containers/${id}`)).status).toBe(200);
  const [used] = await gateway.entries();
  expect(used?.upstreamModel).toBe("container-16g");
});

test("the deletion of a container's file is a use of the container, and the container's own is free", async () => {
  const id = await create("/v1/containers", { name: "big", memory_limit: "64g" });
  const body = new FormData();
  body.append("file", new Blob(["x"]), "x.txt");
  const headers = { authorization: `Bearer ${aliceKey}` };
  const added = await fetch(`${gateway.url}/v1/containers/${id}/files`, { method: "POST", headers, body });
  const file = `/v1/containers/${id}/files/${((await added.json()) as { id: string }).id}`;
  expect((await fetch(`${gateway.url}${file}`, { method: "DELETE", headers })).status).toBe(200);
  expect((await gateway.entries())[0]).toMatchObject({ upstreamModel: "container-64g" });
  expect((await fetch(`${gateway.url}/v1/containers/${id}`, { method: "DELETE", headers })).status).toBe(200);
  expect((await gateway.entries())[0]).toMatchObject({ costNanoUsd: 0, upstreamModel: "" });
});

test.each([
  [20, {}],
  [60, { expires_after: { anchor: "last_active_at", minutes: 60 } }],
])("a container that ended long ago is charged for %d minutes", async (minutes, more) => {
  const clock = new MovedClock();
  const own = await startFilesGateway({ clock });
  try {
    const made = await own.post("/v1/containers", { name: "ended", memory_limit: "4g", ...more });
    const { id } = (await made.json()) as { id: string };
    clock.move(86_400_000);
    expect((await own.get(`/v1/containers/${id}`)).status).toBe(200);
    const [used] = await own.entries();
    expect(used?.costNanoUsd).toBe(minutes * 6_000_000);
  } finally {
    await own.stop();
  }
});

test("a container of an unknown memory has no price, and its entry does not repeat the memory", async () => {
  const id = await create("/v1/containers", { name: "odd", memory_limit: "3g" });
  expect((await gateway.entries())[0]).toMatchObject({ upstreamModel: "container-other", costNanoUsd: 0 });
  expect((await gateway.get(`/v1/containers/${id}`, bearer(poorKey))).status).toBe(403);
});

test("a search has a price, conversations are free, and calls without a price are refused under a budget", async () => {
  const store = await create("/v1/vector_stores", { name: "docs" });
  await gateway.post(`/v1/vector_stores/${store}/search`, { query: "x" }, { key: poorKey });
  expect(await lastCost()).toBe(2_500_000);
  const refused = await errorOf(await gateway.post("/v1/vector_stores", { name: "docs" }, { key: poorKey }));
  expect(refused).toMatchObject({ status: 403, code: "forbidden" });
  const odd = await gateway.post("/v1/containers", { name: "odd", memory_limit: "3g" }, { key: poorKey });
  expect(odd.status).toBe(403);
  await create("/v1/conversations", {}, poorKey);
  expect(await lastCost()).toBe(0);
});

test("a container may not reach a network, and the account of a new object must be one of the key's", async () => {
  const network_policy = { type: "allowlist", allowed_domains: ["example.com"] };
  const refused = await errorOf(await gateway.post("/v1/containers", { name: "open", network_policy }));
  expect(refused).toMatchObject({ status: 400, param: "network_policy" });
  await create("/v1/containers", { name: "closed", network_policy: { type: "disabled" } });
  const headers = { "x-sluice-provider": "anthropic" };
  expect((await gateway.post("/v1/containers", { name: "x" }, { headers })).status).toBe(404);
  expect(
    (await gateway.post("/v1/containers", { name: "x" }, { headers: { "x-sluice-provider": "openai" } })).status,
  ).toBe(200);
});

test.each([
  {
    type: "code_interpreter",
    container: { type: "auto", network_policy: { type: "allowlist", allowed_domains: ["a.b"] } },
  },
  {
    type: "shell",
    environment: { type: "container_auto", network_policy: { type: "allowlist", allowed_domains: [] } },
  },
  { type: "shell", environment: { type: "container_auto", network_policy: "allowlist" } },
])("a container of a tool may not reach a network either: %j", async (tool) => {
  const body = { model: "openai", input: "hi", tools: [tool] };
  const refused = await errorOf(await gateway.post("/v1/responses", body));
  expect(refused).toMatchObject({ status: 400, code: "invalid_request", param: "tools" });
  const escaped = JSON.stringify(body).replace("network_policy", "network\\u005fpolicy");
  expect((await gateway.post("/v1/responses", escaped)).status).toBe(400);
  const added = { ...body, tools: [], input: [{ type: "additional_tools", tools: [tool] }] };
  expect((await gateway.post("/v1/responses", added)).status).toBe(400);
});

test("a disabled network policy, and a function's parameter of that name, are accepted", async () => {
  const disabled = { type: "code_interpreter", container: { type: "auto", network_policy: { type: "disabled" } } };
  const parameters = { type: "object", properties: { network_policy: { type: "string" } } };
  const tools = [disabled, { type: "function", name: "open", parameters, strict: false }];
  expect((await gateway.post("/v1/responses", { model: "openai", input: "hi", tools })).status).toBe(200);
});

test("a response that continues a conversation is held with what was put into the conversation", async () => {
  const text = "word ".repeat(4_000);
  const long = await create("/v1/conversations", { items: [{ type: "message", role: "user", content: text }] });
  const short = await create("/v1/conversations", {});
  const held: number[] = [];
  for (const conversation of [short, long]) {
    const body = { model: "openai", input: "hi", max_output_tokens: 10, conversation };
    expect((await gateway.post("/v1/responses", body, { key: poorKey })).status).toBe(200);
    held.push((await gateway.entries())[0]?.reservedNanoUsd ?? 0);
  }
  const [little = 0, much = 0] = held;
  // 4,000 words are 5,000 tokens or more, at one dollar a million.
  expect(much - little).toBeGreaterThan(5_000_000);
  expect(little).toBeLessThan(1_000_000);
  // It has grown.
  const item = { type: "message", role: "user", content: text };
  await gateway.post(`/v1/conversations/${short}/items`, { items: [item] });
  const body = { model: "openai", input: "hi", max_output_tokens: 10, conversation: short };
  await gateway.post("/v1/responses", body, { key: poorKey });
  expect((await gateway.entries())[0]?.reservedNanoUsd).toBeGreaterThan(5_000_000);
});
