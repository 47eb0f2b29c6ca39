import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OpenApiDocument, Operation, PathItem } from "../../contract/src/openapi/types.ts";
import { type Answerer, DescribedAnswers } from "./described-answers.ts";
import { png, uploadForm } from "./endpoints/assets/upload-form.ts";
import { settledTask, videoGateway } from "./endpoints/video-tasks/video-gateway.ts";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "./started-gateway.ts";

/** The routes answered by Sluice itself; an upstream's answers are described only by their API. */
const ours = ["models", "video", "assets", "usage", "operations", "setup"];
const poorKey = "sk-poor-0123456789abcdefghijk";
const slowKey = "sk-slow-0123456789abcdefghijk";

let gateway: StartedGateway;
let answers: DescribedAnswers;
let document: OpenApiDocument;
beforeAll(async () => {
  gateway = await startGateway({
    ...videoGateway,
    providers: (simulator) => [
      upstream("main", simulator),
      upstream("open", simulator, { kind: "openai" }),
      ...(videoGateway.providers?.(simulator) ?? []),
    ],
    models: [
      ...(videoGateway.models ?? []),
      { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price: { output: 10 } },
      {
        name: "sora-2",
        type: "video",
        deployments: [{ provider: "open", upstream_model: "sora-2" }],
        price: { video: 0.1 },
      },
    ],
    keys: [
      { name: "alice", secret: aliceKey, limits: { rpm: 10_000 }, budget: { usd: 1_000, period: "month" } },
      { name: "poor", secret: poorKey, budget: { usd: 0.000001, period: "day" } },
      { name: "slow", secret: slowKey, limits: { rpm: 1 } },
    ],
  });
  document = (await (await gateway.get("/openapi.json", {})).json()) as OpenApiDocument;
  answers = new DescribedAnswers(document);
});
afterAll(() => gateway.stop());

interface AskOptions {
  readonly method?: string;
  /** The actual path and query, where the described path has parameters. */
  readonly at?: string;
  readonly body?: object | string;
  readonly headers?: Record<string, string>;
  readonly key?: string | null;
  readonly status?: number;
  readonly by?: Answerer;
}

/** Sends a request and checks the answer against the description. */
async function ask(
  path: string,
  { method = "GET", at = path, body, headers, key = aliceKey, status = 200, by }: AskOptions = {},
) {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${gateway.url}${at}`, {
    method,
    redirect: "manual",
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm || typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const copy = answer.clone();
  expect(await answers.problems(method, path, answer, by)).toEqual([]);
  expect(`${method} ${at} ${answer.status} ${answer.ok ? "" : await copy.clone().text()}`).toStartWith(
    `${method} ${at} ${status}`,
  );
  const isJson = copy.headers.get("content-type")?.startsWith("application/json") === true;
  return (isJson ? await copy.json() : {}) as Record<string, unknown> & { readonly id: string };
}

const anthropic = { "anthropic-version": "2023-06-01" };

describe("Sluice's answers match their description, member by member", () => {
  test("models, in three formats", async () => {
    await ask("/v1/models");
    await ask("/v1/models", { headers: anthropic });
    await ask("/v1/models/{model}", { at: "/v1/models/gpt-test" });
    await ask("/v1/models/{model}", { at: "/v1/models/gpt-test", headers: anthropic });
    await ask("/v1/models/{model}", { at: "/v1/models/nothing", headers: anthropic, status: 404 });
    await ask("/v1beta/models");
    await ask("/v1beta/models", { at: "/v1beta/models?pageSize=1" });
    await ask("/v1beta/models", { at: "/v1beta/models?pageToken=nonsense", status: 400 });
    await ask("/v1beta/models/{model}", { at: "/v1beta/models/gpt-test" });
    await ask("/v1beta/models/{model}", { at: "/v1beta/models/nothing", status: 404 });
  });

  test("usage, once there is some", async () => {
    await (await gateway.chat(hello)).text();
    await gateway.entries();
    const { data, limits } = await ask("/v1/usage");
    expect([data, limits].map((list) => (list as unknown[]).length > 0)).toEqual([true, true]);
    await ask("/v1/usage", { at: "/v1/usage?from=x", status: 400 });
  });

  test("health, metrics, the description and the setup", async () => {
    for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/api/status"]) {
      await ask(path, { key: null });
    }
    const secrets = { token: "test-setup-token-0123456789", email: "a@example.com", password: "a long password" };
    const origin = { origin: gateway.url };
    await ask("/api/setup", {
      method: "POST",
      key: null,
      headers: origin,
      body: { ...secrets, token: "x" },
      status: 403,
    });
    await ask("/api/setup", { method: "POST", key: null, headers: origin, body: secrets, status: 201 });
  });

  test("groups and assets, uploaded and fetched", async () => {
    const local = { platform: "local", name: "heroes" };
    const group = await ask("/v1/asset-groups", { method: "POST", body: local });
    await ask("/v1/asset-groups", { method: "POST", body: { ...local, platform: "volcengine" } });
    await ask("/v1/asset-groups");
    await ask("/v1/asset-groups/{group_id}", { at: `/v1/asset-groups/${group.id}?platform=local` });
    const form = uploadForm({ group_id: group.id }, png(300, 300));
    const asset = await ask("/v1/assets", { method: "POST", body: form });
    await ask("/v1/assets", { method: "POST", body: { ...local, group_id: group.id }, status: 400 });
    const fetched = { platform: "local", group_id: group.id, asset_type: "Image", url: "https://example.com/hero.png" };
    await ask("/v1/assets", { method: "POST", body: fetched });
    await ask("/v1/assets");
    await ask("/v1/assets/{asset_id}", { at: `/v1/assets/${asset.id}?platform=local` });
    await ask("/v1/assets/{asset_id}", { at: "/v1/assets/as_1?platform=local", status: 404 });
    await ask("/v1/assets/{asset_id}", { method: "DELETE", at: `/v1/assets/${asset.id}` });
    await ask("/v1/asset-groups/{group_id}", { method: "DELETE", at: `/v1/asset-groups/${group.id}` });
  });

  test("video tasks, from queued to cancelled and finished", async () => {
    const body = { model: "clip-test", prompt: "a boat", metadata: { scene: 1 }, return_last_frame: true };
    const task = await ask("/v1/video/tasks", { method: "POST", body });
    await settledTask(gateway, task.id);
    await ask("/v1/video/tasks/{task_id}", { at: `/v1/video/tasks/${task.id}` });
    await ask("/v1/video/tasks/{task_id}/content", { at: `/v1/video/tasks/${task.id}/content` });
    const range = { range: "bytes=0-3" };
    await ask("/v1/video/tasks/{task_id}/content", {
      at: `/v1/video/tasks/${task.id}/content`,
      headers: range,
      status: 206,
    });
    await ask("/v1/video/tasks/{task_id}", { method: "DELETE", at: `/v1/video/tasks/${task.id}`, status: 409 });
    const waiting = { ...body, prompt: `a boat [[sim ${JSON.stringify({ queued_ms: 600_000 })}]]` };
    const other = await ask("/v1/video/tasks", { method: "POST", body: waiting });
    await ask("/v1/video/tasks/{task_id}", { method: "DELETE", at: `/v1/video/tasks/${other.id}` });
    await ask("/v1/video/tasks");
    await ask("/v1/video/tasks", { method: "POST", body: { ...body, duration: 0.5 }, status: 400 });
  });

  test("OpenAI videos, remixes and deletion", async () => {
    const video = await ask("/v1/videos", { method: "POST", body: { prompt: "a boat", seconds: "8" } });
    await settledTask(gateway, video.id, `/v1/video/tasks/${video.id.replace("video_", "vt_")}`);
    const at = `/v1/videos/${video.id}`;
    await ask("/v1/videos/{video_id}", { at });
    await ask("/v1/videos/{video_id}/content", { at: `${at}/content` });
    await ask("/v1/videos/{video_id}/content", { at: `${at}/content`, headers: { range: "bytes=0-3" }, status: 206 });
    await ask("/v1/videos/{video_id}/remix", { method: "POST", at: `${at}/remix`, body: { prompt: "a ship" } });
    await ask("/v1/videos");
    await ask("/v1/videos/{video_id}", { method: "DELETE", at });
    await ask("/v1/videos/{video_id}", { at, status: 404 });
  });

  test("limit errors, in each API's format", async () => {
    const chat = { method: "POST", body: hello };
    const messages = { ...chat, body: { ...hello, max_tokens: 5 }, headers: anthropic };
    const contents = { method: "POST", body: { contents: [{ parts: [{ text: "hello" }] }] } };
    const generate = "/v1beta/models/{model}:generateContent";
    const at = "/v1beta/models/gpt-test:generateContent";
    await ask("/v1/chat/completions", { ...chat, key: poorKey, status: 402 });
    await ask("/v1/messages", { ...messages, key: poorKey, status: 402 });
    await ask(generate, { ...contents, at, key: poorKey, status: 402 });
    await gateway.chat(hello, { key: slowKey });
    await ask("/v1/chat/completions", { ...chat, key: slowKey, status: 429 });
    await ask("/v1/messages", { ...messages, key: slowKey, status: 429 });
    await ask(generate, { ...contents, at, key: slowKey, status: 429 });
  });

  test("headers of served calls, and of calls that no upstream could serve", async () => {
    const messages = { method: "POST", body: { ...hello, max_tokens: 5 } };
    const generate = "/v1beta/models/{model}:generateContent";
    const contents = { method: "POST", body: { contents: [{ role: "user", parts: [{ text: "hello" }] }] } };
    const at = "/v1beta/models/gpt-test:generateContent";
    const broken = { "x-sim-script": JSON.stringify({ status: 500 }) };
    const absent = { "x-sim-script": JSON.stringify({ status: 429 }) };
    const by = "upstream";
    await ask("/v1/chat/completions", { ...messages, by });
    await ask("/v1/messages", { ...messages, headers: anthropic, by });
    await ask(generate, { ...contents, at, by });
    for (const [status, script] of [
      [502, broken],
      [429, absent],
    ] as const) {
      await ask("/v1/chat/completions", { ...messages, headers: script, status });
    }
  });

  test("the tests above cover every operation that Sluice answers itself", () => {
    const wanted = operations()
      .filter(({ operation }) => operation.tags.some((tag) => ours.includes(tag)))
      .flatMap(({ path, method, operation }) =>
        Object.keys(operation.responses)
          .filter((status) => status.startsWith("2"))
          .map((status) => `${method} ${path} ${status}`),
      );
    expect(wanted.length).toBeGreaterThan(25);
    expect(wanted.filter((place) => !answers.seen.has(place))).toEqual([]);
  });

  test("every operation rejects a missing key and an invalid body as described", async () => {
    const keyed = operations().filter(
      ({ path, operation }) => path.startsWith("/v1") && !("101" in operation.responses),
    );
    for (const { path, method, operation } of keyed) {
      const at = path.replace(/\{\w+\}/g, "x1");
      const body = operation.requestBody === undefined ? {} : { body: "{" };
      await ask(path, { method, at, key: null, ...body, status: 401 });
      if (operation.requestBody === undefined || path.startsWith("/v1/providers/")) continue;
      const types = Object.keys(operation.requestBody.content);
      const headers = { ...anthropic, "content-type": "text/plain" };
      const alt = path.includes("streamGenerate") ? "?alt=sse" : "";
      const findsObjectFirst =
        /\/remix$|^\/v1\/(?:uploads\/\{|conversations|containers|vector_stores|skills)|:(?:batchGenerate|asyncBatchEmbed)Content$/.test(
          path,
        );
      if (findsObjectFirst) continue;
      await ask(path, { method, at: `${at}${alt}`, body: "x", headers, status: 415 });
      if (types.includes("application/json")) {
        await ask(path, { method, at: `${at}${alt}`, body: "{", headers: anthropic, status: 400 });
      }
    }
  });
});

function operations() {
  return Object.entries<PathItem>(document.paths)
    .filter(([path]) => !path.startsWith("/api/") || ["/api/status", "/api/setup"].includes(path))
    .flatMap(([path, item]) =>
      Object.entries<Operation>({ ...item }).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    );
}
