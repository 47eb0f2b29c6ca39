import { afterEach, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { until } from "../../../test/until.ts";
import { openSocket, responseIn } from "../endpoints/responses-socket/socket-gateway.ts";
import { type RawUpstream, rawAnswer, startRawUpstream } from "../raw-upstream.ts";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
let vendor: RawUpstream | null = null;
afterEach(async () => {
  await gateway.stop();
  vendor?.stop();
  vendor = null;
});

const opus = { input: 5, cache_read: 0.5, cache_write_5m: 6.25, cache_write_1h: 10, output: 25 };
const haiku = { input: 1, cache_read: 0.1, cache_write_5m: 1.25, cache_write_1h: 2, output: 5 };
const codex = { input: 1.25, cache_read: 0.125, output: 10 };

async function start(usd: number): Promise<void> {
  const limits = { context_window: 200_000, max_output_tokens: 128_000 };
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("openai", simulator, { kind: "openai" }),
    ],
    models: [
      { name: "opus", deployments: [{ provider: "claude", upstream_model: "claude-opus-5" }], price: opus, ...limits },
      { name: "haiku", deployments: [{ provider: "claude", upstream_model: "claude-haiku" }], price: haiku, ...limits },
      { name: "codex", deployments: [{ provider: "openai", upstream_model: "gpt-codex" }], price: codex, ...limits },
    ],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd, period: "day" } }],
  });
}

/** An agent's initial prompt: 60 KB of instructions and tools. */
const instructions = "Answer briefly, and read before you write. ".repeat(800);
const tools = Array.from({ length: 25 }, (_, index) => ({
  ...{ name: `tool_${index}`, description: "Reads one file of the project and gives its lines. ".repeat(20) },
  input_schema: { type: "object", properties: { path: { type: "string", description: "The resource's URL." } } },
}));
const claudeCode = (messages: readonly object[]) => ({
  ...{ model: "opus", max_tokens: 32_000, stream: true, tools, messages },
  system: [{ type: "text", text: instructions, cache_control: { type: "ephemeral" } }],
});
const title = {
  ...{ model: "haiku", max_tokens: 32_000, stream: true },
  messages: [{ role: "user", content: "Give this a title." }],
};
const codexCall = (input: readonly object[]) => ({
  ...{ model: "codex", instructions, input, store: false, reasoning: { effort: "high" } },
  tools: tools.map(({ name, description, input_schema }) => ({
    ...{ type: "function", name, description },
    parameters: input_schema,
  })),
});
const turn = (role: "user" | "assistant", content: string) => ({ role, content });
const claude = async (body: object, script: object): Promise<number> => {
  const answer = await gateway.post("/v1/messages", body, { script, headers: { "anthropic-version": "2023-06-01" } });
  const text = await answer.text();
  return text.includes("message_stop") ? answer.status : 0;
};

test("Claude Code's first calls, an answer and a title, fit a fresh key with 1 USD", async () => {
  await start(1);
  const first = claudeCode([turn("user", "Fix the tests.")]);
  expect(
    await Promise.all([
      claude(first, { prompt_tokens: 15_000, cache_write_tokens: 14_900, tokens: 300, latency_ms: 100 }),
      claude(title, { prompt_tokens: 20, tokens: 10, latency_ms: 100 }),
    ]),
  ).toEqual([200, 200]);
});

test("Codex's first call fits a fresh key with 1 USD, as a stream and over a WebSocket", async () => {
  await start(1);
  const script = { prompt_tokens: 15_000, tokens: 200, reasoning_tokens: 2_000 };
  const ask = codexCall([turn("user", "Fix the tests.")]);
  const answer = await gateway.post("/v1/responses", { ...ask, stream: true }, { script });
  expect([answer.status, (await answer.text()).includes("response.completed")]).toEqual([200, true]);
  const socket = await openSocket(gateway);
  expect(responseIn(await socket.ask(ask))["status"]).toBe("completed");
  socket.close();
});

test("a conversation of twenty turns read from a cache fits 1 USD", async () => {
  await start(1);
  const messages: object[] = [];
  for (let turns = 0; turns < 20; turns++) {
    messages.push(turn("user", "And the next file? ".repeat(20)));
    const prompt_tokens = 15_000 + turns * 300;
    const script = { prompt_tokens, cached_tokens: turns === 0 ? 0 : prompt_tokens - 400, tokens: 200 };
    expect([turns, await claude(claudeCode(messages), script)]).toEqual([turns, 200]);
    messages.push(turn("assistant", "It reads well. ".repeat(50)));
  }
});

test("serves ten agents at once on 5 USD, the last ones after a retry", async () => {
  await start(5);
  const script = { prompt_tokens: 15_000, cached_tokens: 14_000, tokens: 300, latency_ms: 200 };
  /** Each may cost 0.92 USD and costs 0.02. It retries while other calls hold the rest, as clients do. */
  const ask = async (index: number): Promise<readonly number[]> => {
    const body = claudeCode([turn("user", `Look at part ${index}.`)]);
    const statuses: number[] = [];
    for (;;) {
      const answer = await gateway.post("/v1/messages", body, {
        script,
        headers: { "anthropic-version": "2023-06-01" },
      });
      await answer.text();
      statuses.push(answer.status);
      if (answer.status !== 429) return statuses;
      expect(answer.headers.get("retry-after")).toBe("5");
      await until(() => gateway.gateway.outstanding() < 5);
    }
  };
  const all = await Promise.all(Array.from({ length: 10 }, (_, index) => ask(index)));
  expect(all.map((statuses) => statuses.at(-1))).toEqual(all.map(() => 200));
  expect(all.filter((statuses) => statuses.length === 1).length).toBeGreaterThanOrEqual(5);
});

const reply = JSON.stringify({
  ...{ id: "c", object: "chat.completion", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" },
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  content: [{ type: "text", text: "Hello" }],
  usage: { prompt_tokens: 5, completion_tokens: 1_000, total_tokens: 1_005, input_tokens: 5, output_tokens: 1_000 },
});

test("OpenAI's and Anthropic's SDKs retry while a budget is held, and not when it is spent", async () => {
  const answered = Promise.withResolvers<void>();
  vendor = await startRawUpstream((socket, index) => {
    const answer = (): boolean => socket.write(rawAnswer(reply, "content-type: application/json\r\n"));
    if (index === 0) void answered.promise.then(answer);
    else answer();
  });
  const base_url = vendor.url;
  // Two calls of 0.01 USD leave too little for one of 0.015; the second waits for the hold of the first.
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { base_url }),
      upstream("claude", simulator, { kind: "anthropic", base_url }),
    ],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 10 } },
      { name: "claude", deployments: [{ provider: "claude" }], price: { input: 0, output: 10 } },
    ],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.0319, period: "total" } }],
  });
  const seen: { status: number; retryAfter: string | null }[] = [];
  /** Records the gateway's answers and shortens the wait that it requests. */
  const fetching = async (...request: Parameters<typeof fetch>): Promise<Response> => {
    const answer = await fetch(...request);
    const retryAfter = answer.headers.get("retry-after");
    seen.push({ status: answer.status, retryAfter });
    if (answer.status === 429) {
      answered.resolve();
      await until(() => gateway.gateway.outstanding() === 0);
    }
    const headers = new Headers(answer.headers);
    if (retryAfter !== null) headers.set("retry-after-ms", "1");
    return new Response(await answer.text(), { status: answer.status, headers });
  };
  const options = { apiKey: aliceKey, maxRetries: 2, fetch: fetching as typeof fetch };
  const openai = new OpenAI({ ...options, baseURL: `${gateway.url}/v1` });
  const anthropic = new Anthropic({ ...options, baseURL: gateway.url });
  const messages = [{ role: "user" as const, content: "Hello" }];
  const ofOpenai = async (max_tokens: number) =>
    openai.chat.completions.create({ model: "gpt-test", messages, max_tokens });
  const ofAnthropic = async (max_tokens: number) =>
    anthropic.messages.create({ model: "claude", messages, max_tokens });

  const slow = gateway.chat({ ...hello, max_tokens: 1_500 });
  await until(() => vendor?.requests.length === 1);
  expect((await ofOpenai(2_000)).choices[0]?.message.content).toBe("Hello");
  expect((await slow).status).toBe(200);
  expect(seen.splice(0)).toEqual([
    { status: 429, retryAfter: "5" },
    { status: 200, retryAfter: null },
  ]);
  // 0.02 USD are spent, 0.0119 are left.
  await expect(ofOpenai(1_500)).rejects.toMatchObject({ status: 402, code: "budget_exceeded" });
  await expect(ofAnthropic(1_500)).rejects.toMatchObject({ status: 402, error: { error: { type: "billing_error" } } });
  expect(seen.splice(0).map(({ status }) => status)).toEqual([402, 402]);
});
