import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ProviderConfig } from "@sluice/contract";
import { until } from "../../../test/until.ts";
import { settledTask, taskRequest, videoGateway } from "../endpoints/video-tasks/video-gateway.ts";
import { MovedClock } from "../moved-clock.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../started-gateway.ts";

const poorKey = "sk-poor-0123456789abcdefghij";
const google = { candidates: [{ content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP" }] };
const queries = { groundingMetadata: { webSearchQueries: ["a", "b"] } };

let answer: () => Response;
const server = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    await request.text();
    return answer();
  },
});
const at = (id: string, kind: string, path: string): ProviderConfig => ({
  id,
  kind,
  base_url: `http://127.0.0.1:${server.port}${path}`,
  api_key: `sk-upstream-of-${id}`,
  allow_private_network: true,
});

const clock = new MovedClock();
let gateway: StartedGateway;
beforeAll(async () => {
  const google = [{ provider: "google" }];
  gateway = await startGateway({
    clock,
    providers: () => [
      at("google", "gemini", "/v1beta"),
      at("router", "openrouter", "/v1"),
      at("openai", "openai", "/v1"),
    ],
    models: [
      { name: "gem", deployments: google, price: { input: 1, output: 10 } },
      { name: "priced", deployments: google, price: { input: 1, output: 10, web_search: 14 } },
      { name: "free", deployments: google, price: {} },
      { name: "allowed", deployments: google, price: { input: 1, output: 10 }, unpriced: "allow" },
      { name: "half", deployments: google, price: { input: 1, web_search: 14 } },
      { name: "kept", deployments: [{ provider: "openai" }], price: { input: 1, output: 10 } },
      {
        name: "passed",
        deployments: [{ provider: "google", upstream_model: "gemini-3-pro" }],
        price: { input: 1, output: 10 },
      },
      { name: "routed", deployments: [{ provider: "router" }], price: { input: 1, output: 10 } },
    ],
    workspace: {
      pass_through: ["google"],
      groups: [{ name: "default", pass_through: ["google"] }],
      keys: [
        { name: "alice", secret: aliceKey, pass_through: ["google"] },
        { name: "poor", secret: poorKey, budget: { usd: 100, period: "month" } },
      ],
    },
    settings: { unpriced: "block_in_budgets" },
  });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop(true);
});

test.each([false, true])("a passed-through call is marked too, streamed: %p", async (stream) => {
  const response = await grounded("gemini-3-pro", aliceKey, stream, "/v1/providers/google");
  expect(response.status).toBe(200);
  // The headers of a stream are sent before its usage is known.
  expect(response.headers.get("x-sluice-warnings") ?? "").toContain(stream ? "" : "web_searches");
  await response.text();
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "pass-through", model: "passed", unpriced: ["web_searches"] });
});

test("a background response is marked when it ends", async () => {
  const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
  const searched = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "a" } };
  const storedResponse = (status: string, more: object) => ({
    id: "resp_1",
    object: "response",
    background: true,
    status,
    ...more,
  });
  answer = () => Response.json(storedResponse("queued", { output: [], usage: null }));
  const body = { model: "kept", input: "x", background: true, tools: [{ type: "web_search" }] };
  const response = await gateway.post("/v1/responses", body);
  expect(response.status).toBe(200);
  await response.text();
  answer = () => Response.json(storedResponse("completed", { output: [searched], usage }));
  const entry = await until(async () => {
    clock.move(1_000);
    return (await gateway.entries()).find(({ upstreamId }) => upstreamId === "resp_1") ?? null;
  });
  expect(entry).toMatchObject({ usage: { webSearches: 1 }, unpriced: ["web_searches"] });
  expect(await metricOf("kept")).toBe(1);
});

test("marks a video priced by another measure than its vendor counts", async () => {
  const [clip] = videoGateway.models ?? [];
  if (clip === undefined) throw new Error("there is no video model");
  const own = await startGateway({ ...videoGateway, models: [{ ...clip, price: { image: 0.04 } }] });
  try {
    const made = await own.post("/v1/video/tasks", taskRequest);
    expect(made.status).toBe(200);
    const { id } = (await made.json()) as { id: string };
    await settledTask(own, id);
    const [entry] = await own.entries();
    expect(entry).toMatchObject({ endpoint: "video", costNanoUsd: 0, unpriced: ["output", "video_seconds"] });
  } finally {
    await own.stop();
  }
});

test("with a budget, rejects a chat model whose price has no output", async () => {
  const refused = await grounded("half", poorKey);
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain("output");
  const served = await grounded("half", aliceKey);
  expect(served.headers.get("x-sluice-warnings")).toContain("output");
  await served.text();
  expect((await gateway.entries())[0]).toMatchObject({ unpriced: ["output"] });
  const counted = await gateway.post(
    "/v1beta/models/half:countTokens",
    { contents: search.contents },
    { key: poorKey },
  );
  expect(counted.status).toBe(200);
});

const search = { contents: [{ role: "user", parts: [{ text: "x" }] }], tools: [{ google_search: {} }] };

async function metricOf(model: string): Promise<number> {
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  const found = new RegExp(`sluice_unpriced_usage_total\\{[^}]*model="${model}"[^}]*\\} (\\d+)`).exec(metrics);
  return Number(found?.[1] ?? 0);
}

async function grounded(model: string, key: string, stream = false, path = "") {
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
  const [candidate] = google.candidates;
  const whole = { candidates: [{ ...candidate, ...queries }], usageMetadata, modelVersion: model };
  answer = () =>
    stream
      ? new Response(`data: ${JSON.stringify(whole)}\n\n`, { headers: { "content-type": "text/event-stream" } })
      : Response.json(whole);
  const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  return await gateway.post(`${path}/v1beta/models/${model}:${verb}`, search, { key });
}

test("reports a search without a price to the caller, on the entry and in a metric", async () => {
  const response = await grounded("gem", aliceKey);
  expect(response.headers.get("x-sluice-warnings")).toContain("web_searches");
  await response.text();
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ usage: { webSearches: 2 }, unpriced: ["web_searches"], costNanoUsd: 300_000 });
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(/sluice_unpriced_usage_total\{[^}]*class="web_searches"[^}]*\} 1/);
});

test("a streamed search is on the entry", async () => {
  await (await grounded("gem", aliceKey, true)).text();
  expect((await gateway.entries())[0]).toMatchObject({ unpriced: ["web_searches"] });
});

test("with a budget, does not send tools that the model has no price for", async () => {
  const refused = await grounded("gem", poorKey);
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain("web_searches");
  for (const model of ["priced", "free", "allowed"]) expect((await grounded(model, poorKey)).status).toBe(200);
});

test("does not mark priced classes or a free model", async () => {
  for (const model of ["priced", "free"]) {
    const response = await grounded(model, aliceKey);
    expect(response.headers.get("x-sluice-warnings")).toBeNull();
    await response.text();
    expect((await gateway.entries())[0]?.unpriced).toBeUndefined();
  }
});

test("a vendor-reported cost includes its searches", async () => {
  const usage = {
    prompt_tokens: 1,
    completion_tokens: 1,
    total_tokens: 2,
    cost: 0.5,
    server_tool_use: { web_search_requests: 1 },
  };
  const choices = [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }];
  answer = () => Response.json({ id: "c", choices, usage });
  const body = { model: "routed", messages: [{ role: "user", content: "x" }], web_search_options: {} };
  const response = await gateway.chat(body, { key: poorKey });
  expect([response.status, response.status === 200 ? null : await errorOf(response)]).toEqual([200, null]);
  await response.text();
  expect((await gateway.entries())[0]).toMatchObject({ costNanoUsd: 500_000_000, costSource: "vendor" });
  expect((await gateway.entries())[0]?.unpriced).toBeUndefined();
});
