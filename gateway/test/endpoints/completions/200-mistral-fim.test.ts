import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";

/** Each test sets Mistral's answer. The requests are recorded. */
let received: { path: string; body: Record<string, unknown> }[] = [];
let answer = (): Response => new Response(null, { status: 500 });
const mistral = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    received.push({ path: new URL(request.url).pathname, body: (await request.json()) as Record<string, unknown> });
    return answer();
  },
});

let gateway: StartedGateway;
let client: OpenAI;
beforeAll(async () => {
  const base_url = `http://127.0.0.1:${mistral.port}/v1`;
  const price = { input: 1, output: 2 };
  gateway = await startGateway({
    providers: () => [{ id: "m", kind: "mistral", base_url, api_key: "key-of-mistral", allow_private_network: true }],
    models: [
      { name: "fim", type: "completion", deployments: [{ provider: "m", upstream_model: "codestral-latest" }], price },
      { name: "large", deployments: [{ provider: "m", upstream_model: "mistral-large-latest" }], price },
    ],
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await mistral.stop(true);
});

const usage = { prompt_tokens: 8, completion_tokens: 5, total_tokens: 13 };
const head = { id: "cmpl-1", created: 1_700_000_000, model: "codestral-latest" };
const completion = (finish_reason = "stop") => ({
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "(n)", tool_calls: null }, finish_reason }],
  usage,
});
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});

function respondWith(reply: object | readonly object[]): void {
  received = [];
  answer = () => {
    if (!Array.isArray(reply)) return Response.json(reply);
    const events = [...reply.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`);
    return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
  };
}

const request = { model: "fim", prompt: "def f", suffix: "return x", max_tokens: 9 };

describe("completions from Codestral", () => {
  test("are requested as FIM and returned in OpenAI's shape", async () => {
    respondWith(completion());
    const completed = await client.completions.create({ ...request, temperature: 0.2, stop: ["\n"], seed: 4 });
    expect(completed).toMatchObject({
      id: "cmpl-1",
      object: "text_completion",
      model: "codestral-latest",
      choices: [{ text: "(n)", index: 0, finish_reason: "stop" }],
      usage: { prompt_tokens: 8, completion_tokens: 5 },
    });
    const { model: _, ...rest } = request;
    expect(received).toEqual([
      {
        path: "/v1/fim/completions",
        body: { model: "codestral-latest", ...rest, temperature: 0.2, stop: ["\n"], random_seed: 4 },
      },
    ]);
    expect((await gateway.entries())[0]).toMatchObject({
      endpoint: "completions",
      callerDialect: "openai-completions",
      upstreamDialect: "mistral-fim",
      usage: { inputUncached: 8, output: 5 },
      usageSource: "upstream",
      costNanoUsd: 18_000,
    });
  });

  test("stream, with usage when the caller asks for it", async () => {
    for (const include_usage of [true, false]) {
      respondWith([
        chunk({ role: "assistant", content: "(" }),
        chunk({ content: "n)" }),
        chunk({ content: "" }, "length", { usage }),
      ]);
      const stream = await client.completions.create({
        ...request,
        stream: true,
        ...(include_usage ? { stream_options: { include_usage } } : {}),
      });
      let [text, finish, usages] = ["", "", 0];
      for await (const { choices, usage: reported } of stream) {
        text += choices[0]?.text ?? "";
        finish = choices[0]?.finish_reason ?? finish;
        if (reported != null) usages++;
      }
      expect([text, finish, usages]).toEqual(["(n)", "length", include_usage ? 1 : 0]);
      expect(received[0]?.body).not.toHaveProperty("stream_options");
      expect(received[0]?.body).toMatchObject({ stream: true });
      expect((await gateway.entries())[0]).toMatchObject({
        stream: true,
        usage: { inputUncached: 8, output: 5 },
        usageSource: "upstream",
      });
    }
  });

  test("are sent as events if the caller requests a stream and Mistral answers without one", async () => {
    respondWith(completion("model_length"));
    const response = await gateway.post("/v1/completions", { ...request, stream: true });
    const text = await response.text();
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(text).toContain('"text":"(n)"');
    expect(text).toEndWith("data: [DONE]\n\n");
  });

  test("drop fields that Mistral does not support, with a warning", async () => {
    respondWith(completion());
    const response = await gateway.post("/v1/completions", { ...request, logprobs: 2, echo: true, n: 1, user: "u" });
    expect(response.headers.get("x-sluice-warnings")).toMatch(/echo.*logprobs/);
    expect(Object.keys(received[0]?.body ?? {}).toSorted()).toEqual(["max_tokens", "model", "prompt", "suffix"]);
  });

  test.each([
    ["several prompts", { prompt: ["a", "b"] }, "prompt"],
    ["tokens", { prompt: [1, 2] }, "prompt"],
    ["several answers", { n: 2 }, "n"],
  ])("reject %s without calling Mistral", async (_, more, param) => {
    respondWith(completion());
    const error = await errorOf(await gateway.post("/v1/completions", { ...request, ...more }));
    expect(error).toMatchObject({ status: 400, code: "unsupported_by_model", param });
    expect(received).toHaveLength(0);
  });

  test("report a stream that breaks off, and record the usage so far", async () => {
    received = [];
    answer = () =>
      new Response(`data: ${JSON.stringify(chunk({ content: "(n" }))}\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    const text = await (await gateway.post("/v1/completions", { ...request, stream: true })).text();
    expect(text).toContain('"code":"upstream_truncated"');
    expect(text).not.toContain("[DONE]");
    expect((await gateway.entries())[0]).toMatchObject({ outcome: "failed", usageSource: "estimated" });
  });

  test("return Mistral's error in OpenAI's shape", async () => {
    answer = () => Response.json({ object: "error", message: "no", type: "invalid", code: "3" }, { status: 422 });
    expect(await errorOf(await gateway.post("/v1/completions", request))).toMatchObject({ status: 422, message: "no" });
  });

  test("are not offered by other models of Mistral", async () => {
    const model = (await (await gateway.get("/v1/models/large")).json()) as { endpoints: string[] };
    expect(model.endpoints).not.toContain("/v1/completions");
  });
});
