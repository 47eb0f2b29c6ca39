import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator),
      upstream("openai", simulator, { kind: "openai" }),
      upstream("deepseek", simulator, { kind: "deepseek", base_url: new URL(simulator.url).origin }),
    ],
    models: [
      {
        name: "fim",
        type: "completion",
        deployments: [{ provider: "main", upstream_model: "up" }],
        price: { input: 1, output: 2 },
      },
      { name: "chat-only", deployments: [{ provider: "openai", upstream_model: "gpt-5" }] },
      { name: "old", deployments: [{ provider: "openai", upstream_model: "gpt-3.5-turbo-instruct" }] },
      { name: "deep", deployments: [{ provider: "deepseek", upstream_model: "deepseek-chat" }] },
    ],
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
});
afterAll(() => gateway.stop());

test("completes between a prompt and a suffix for OpenAI's SDK, with and without streaming", async () => {
  const whole = await client.completions.create({ model: "fim", prompt: "def fib", suffix: "end", max_tokens: 4 });
  expect(whole.object).toBe("text_completion");
  expect(whole.choices[0]?.text.length).toBeGreaterThan(0);
  expect((await gateway.entries())[0]).toMatchObject({
    endpoint: "completions",
    usage: { inputUncached: 3, output: 4 },
    usageSource: "upstream",
    costNanoUsd: 11_000,
  });
  const stream = await client.completions.create({ model: "fim", prompt: "def fib", max_tokens: 4, stream: true });
  let text = "";
  const usages: unknown[] = [];
  for await (const chunk of stream) {
    text += chunk.choices[0]?.text ?? "";
    if (chunk.usage != null) usages.push(chunk.usage);
  }
  expect(text.length).toBeGreaterThan(0);
  // The caller did not ask for usage, so the gateway requests it and removes it from the stream.
  expect(usages).toEqual([]);
  expect((await gateway.entries())[0]).toMatchObject({
    stream: true,
    usage: { inputUncached: 2, output: 4 },
    usageSource: "upstream",
  });
});

test("passes usage when the caller asks for it", async () => {
  const stream = await client.completions.create({
    model: "fim",
    prompt: "x",
    max_tokens: 2,
    stream: true,
    stream_options: { include_usage: true },
  });
  let last: unknown = null;
  for await (const chunk of stream) last = chunk.usage ?? last;
  expect(last).toMatchObject({ prompt_tokens: 1, completion_tokens: 2 });
});

test("completes every prompt of a list", async () => {
  const whole = await client.completions.create({ model: "fim", prompt: ["a b", "c"], n: 2, max_tokens: 3 });
  expect(whole.choices).toHaveLength(4);
  expect((await gateway.entries())[0]?.usage.output).toBe(12);
});

test("records the usage so far when a stream is cut", async () => {
  const answer = await gateway.post(
    "/v1/completions",
    { model: "fim", prompt: "x", stream: true },
    {
      script: { tokens: 9, cut_after_events: 4, event_ms: 100 },
    },
  );
  const text = await answer.text();
  expect(text).toContain('"code":"upstream_truncated"');
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "failed", usageSource: "estimated" });
  // Events that arrive together with the break may be lost. The entry must count the ones that the caller received.
  const wordsReceived = [...text.matchAll(/"text":"[^"]/g)].length;
  expect(entry?.usage.output).toBe(wordsReceived);
  expect(wordsReceived).toBeWithin(1, 5);
});

test("passes an error event inside a stream and records the call as failed", async () => {
  const answer = await gateway.post(
    "/v1/completions",
    { model: "fim", prompt: "x", stream: true },
    {
      script: { tokens: 9, error_event_after: 2 },
    },
  );
  expect(await answer.text()).toContain('"error"');
  expect((await gateway.entries())[0]).toMatchObject({ outcome: "failed", errorCode: "upstream_error" });
});

test("drops best_of, which multiplies the cost, with a warning", async () => {
  const answer = await gateway.post("/v1/completions", { model: "fim", prompt: "x", best_of: 20, max_tokens: 1 });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-sluice-warnings")).toContain("best_of");
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.body_text).not.toContain("best_of");
});

test("lists the completions endpoint only for models that have it", async () => {
  const endpoints = async (name: string) =>
    ((await (await gateway.get(`/v1/models/${name}`)).json()) as { endpoints: string[] }).endpoints;
  expect(await endpoints("fim")).toEqual(["/v1/completions"]);
  expect(await endpoints("chat-only")).not.toContain("/v1/completions");
  expect(await endpoints("old")).toContain("/v1/completions");
  expect(await endpoints("deep")).toContain("/v1/completions");
});

test("calls DeepSeek below its beta base URL", async () => {
  await client.completions.create({ model: "deep", prompt: "x", suffix: "y", max_tokens: 1 });
  expect(gateway.simulator.simulator.truth.list().data.at(-1)).toMatchObject({ path: "/beta/completions" });
});
