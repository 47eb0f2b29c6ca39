import { afterEach, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { type RawUpstream, rawAnswer, startRawUpstream } from "../raw-upstream.ts";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
let vendor: RawUpstream;
afterEach(async () => {
  await gateway.stop();
  vendor.stop();
});

const reply = JSON.stringify({
  id: "c",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 0, completion_tokens: 1_000, total_tokens: 1_000 },
});

/** 10 USD per million output tokens: a call of at most 1,000 tokens costs 0.01 USD. */
const call = { ...hello, max_tokens: 1_000 };

/** A gateway with this budget and a call in progress that ends when `end` is called. */
async function withCallInFlight(usd: number): Promise<{ readonly end: () => Promise<void> }> {
  const answered = Promise.withResolvers<void>();
  vendor = await startRawUpstream((socket) => {
    void answered.promise.then(() => socket.write(rawAnswer(reply, "content-type: application/json\r\n")));
  });
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator, { base_url: vendor.url })],
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 10 } }],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd, period: "total" } }],
  });
  const first = gateway.chat(call);
  await until(() => vendor.requests.length === 1);
  return {
    end: async () => {
      answered.resolve();
      expect((await first).status).toBe(200);
    },
  };
}

const asks: Readonly<Record<string, object>> = {
  "/v1/chat/completions": call,
  "/v1/responses": { model: "gpt-test", input: "hello", max_output_tokens: 1_000 },
  "/v1/messages": { ...call, model: "gpt-test" },
  "/v1beta/models/gpt-test:generateContent": {
    contents: [{ role: "user", parts: [{ text: "hello" }] }],
    generationConfig: { maxOutputTokens: 1_000 },
  },
};
const version = { "anthropic-version": "2023-06-01" };

test("answers 429 with a retry time in each API when running calls hold the rest of a budget", async () => {
  const { end } = await withCallInFlight(0.019);
  for (const [path, body] of Object.entries(asks)) {
    const refused = await gateway.post(path, body, { headers: version });
    expect([path, refused.status]).toEqual([path, 429]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const text = await refused.text();
    expect(text).toMatch(/rate_limit_error|RESOURCE_EXHAUSTED/);
    expect(text).toContain("0.01 USD is held for calls in flight");
  }
  const { error } = (await (await gateway.chat(call)).json()) as { error: Record<string, unknown> };
  expect(error).toMatchObject({ code: "budget_held", held: 0.01, used: 0.01, limit: 0.019 });
  await end();
});

test("answers 429 before reading the body while a budget is fully held", async () => {
  const { end } = await withCallInFlight(0.01);
  // The body is large and no JSON: it was not read.
  const body = `{${" ".repeat(300_000)}`;
  const refused = await gateway.chat(body);
  expect(refused.status).toBe(429);
  expect(await refused.text()).toContain("budget_held");
  await end();
  expect((await gateway.chat(body)).status).toBe(402);
});

test("answers 402 when the budget is spent, even if some is held", async () => {
  const { end } = await withCallInFlight(0.015);
  await end();
  const refused = await gateway.chat(call);
  expect(refused.status).toBe(402);
  expect(refused.headers.get("retry-after")).toBeNull();
  const { error } = (await refused.json()) as { error: Record<string, unknown> };
  expect(error).toMatchObject({ code: "budget_exceeded", held: 0, used: 0.01 });
});

test("answers 402 when a call costs more than the whole budget, even while calls run", async () => {
  const { end } = await withCallInFlight(0.019);
  expect((await gateway.chat({ ...call, max_tokens: 2_000 })).status).toBe(402);
  await end();
});

test("holds audio of unknown length at the price of audio", async () => {
  const used = { promptTokenCount: 100_000, promptTokensDetails: [{ modality: "AUDIO", tokenCount: 100_000 }] };
  const candidates = [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP", index: 0 }];
  const audioAnswer = JSON.stringify({ candidates, usageMetadata: { ...used, totalTokenCount: 100_000 } });
  const answered = Promise.withResolvers<void>();
  vendor = await startRawUpstream((socket) => {
    void answered.promise.then(() => socket.write(rawAnswer(audioAnswer, "content-type: application/json\r\n")));
  });
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator, { kind: "gemini", base_url: `${vendor.url}/v1beta` })],
    models: [
      {
        ...{ name: "gem", deployments: [{ provider: "main" }], context_window: 100_000 },
        price: { input: 1, audio_input: 4, output: 1 },
      },
    ],
    // The audio costs 0.40 USD; as text it would cost 0.10.
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.5, period: "total" } }],
  });
  const parts = [{ fileData: { fileUri: "https://example.com/a.mp3", mimeType: "audio/mpeg" } }];
  const body = { contents: [{ role: "user", parts }], generationConfig: { maxOutputTokens: 10 } };
  const calls = Array.from({ length: 6 }, () => gateway.post("/v1beta/models/gem:generateContent", body));
  const served = calls.map(async (each) => (await each).status === 200);
  await until(() => vendor.requests.length > 0);
  answered.resolve();
  expect((await Promise.all(served)).filter((was) => was)).toHaveLength(1);
});
