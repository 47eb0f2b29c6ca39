import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";

/** What Mistral answers is written by the test; what it is asked is kept. */
let seen: { path: string; body: Record<string, unknown> }[] = [];
let answer = (): Response => new Response(null, { status: 500 });
const mistral = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    seen.push({ path: new URL(request.url).pathname, body: (await request.json()) as Record<string, unknown> });
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
const whole = (finish_reason = "stop") => ({
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

function says(reply: object | readonly object[]): void {
  seen = [];
  answer = () => {
    if (!Array.isArray(reply)) return Response.json(reply);
    const events = [...reply.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`);
    return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
  };
}

const asked = { model: "fim", prompt: "def f", suffix: "return x", max_tokens: 9 };

describe("completions on Codestral", () => {
  test("are asked as FIM, and answered as OpenAI's SDK reads them", async () => {
    says(whole());
    const told = await client.completions.create({ ...asked, temperature: 0.2, stop: ["\n"], seed: 4 });
    expect(told).toMatchObject({
      id: "cmpl-1",
      object: "text_completion",
      model: "codestral-latest",
      choices: [{ text: "(n)", index: 0, finish_reason: "stop" }],
      usage: { prompt_tokens: 8, completion_tokens: 5 },
    });
    const { model: _, ...rest } = asked;
    expect(seen).toEqual([
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

  test("stream, with usage for those who ask", async () => {
    for (const include_usage of [true, false]) {
      says([
        chunk({ role: "assistant", content: "(" }),
        chunk({ content: "n)" }),
        chunk({ content: "" }, "length", { usage }),
      ]);
      const stream = await client.completions.create({
        ...asked,
        stream: true,
        ...(include_usage ? { stream_options: { include_usage } } : {}),
      });
      let [text, finish, told] = ["", "", 0];
      for await (const { choices, usage: said } of stream) {
        text += choices[0]?.text ?? "";
        finish = choices[0]?.finish_reason ?? finish;
        if (said != null) told++;
      }
      expect([text, finish, told]).toEqual(["(n)", "length", include_usage ? 1 : 0]);
      expect(seen[0]?.body).not.toHaveProperty("stream_options");
      expect(seen[0]?.body).toMatchObject({ stream: true });
      expect((await gateway.entries())[0]).toMatchObject({
        stream: true,
        usage: { inputUncached: 8, output: 5 },
        usageSource: "upstream",
      });
    }
  });

  test("that were to stream and come whole are told as events", async () => {
    says(whole("model_length"));
    const answered = await gateway.post("/v1/completions", { ...asked, stream: true });
    const text = await answered.text();
    expect(answered.headers.get("content-type")).toContain("text/event-stream");
    expect(text).toContain('"text":"(n)"');
    expect(text).toEndWith("data: [DONE]\n\n");
  });

  test("lose what Mistral does not know, and say so", async () => {
    says(whole());
    const answered = await gateway.post("/v1/completions", { ...asked, logprobs: 2, echo: true, n: 1, user: "u" });
    expect(answered.headers.get("x-sluice-warnings")).toMatch(/echo.*logprobs/);
    expect(Object.keys(seen[0]?.body ?? {}).toSorted()).toEqual(["max_tokens", "model", "prompt", "suffix"]);
  });

  test.each([
    ["several prompts", { prompt: ["a", "b"] }, "prompt"],
    ["tokens", { prompt: [1, 2] }, "prompt"],
    ["several answers", { n: 2 }, "n"],
  ])("of %s are refused, with nothing sent", async (_, more, param) => {
    says(whole());
    const error = await errorOf(await gateway.post("/v1/completions", { ...asked, ...more }));
    expect(error).toMatchObject({ status: 400, code: "unsupported_by_model", param });
    expect(seen).toHaveLength(0);
  });

  test("that break off are told so, and booked with what was seen", async () => {
    seen = [];
    answer = () =>
      new Response(`data: ${JSON.stringify(chunk({ content: "(n" }))}\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    const text = await (await gateway.post("/v1/completions", { ...asked, stream: true })).text();
    expect(text).toContain('"code":"upstream_truncated"');
    expect(text).not.toContain("[DONE]");
    expect((await gateway.entries())[0]).toMatchObject({ outcome: "failed", usageSource: "estimated" });
  });

  test("Mistral's refusal is told in OpenAI's words", async () => {
    answer = () => Response.json({ object: "error", message: "no", type: "invalid", code: "3" }, { status: 422 });
    expect(await errorOf(await gateway.post("/v1/completions", asked))).toMatchObject({ status: 422, message: "no" });
  });

  test("are not offered by Mistral's other models", async () => {
    const shown = (await (await gateway.get("/v1/models/large")).json()) as { endpoints: string[] };
    expect(shown.endpoints).not.toContain("/v1/completions");
  });
});
