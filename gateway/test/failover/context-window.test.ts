import { describe, expect, test } from "bun:test";
import { answers, type Behavior, callOnce, chatOf, refuses, startAccounts } from "./accounts.ts";

const tooLong = refuses(400, "context_length_exceeded");
const price = { input: 1 };

/** A model with a small window and a fallback with the given window. */
const withFallback = (window: number | null, behaviors: readonly Behavior[], kind?: string) =>
  startAccounts({
    behaviors,
    ...(kind === undefined ? {} : { kind }),
    modelsOf: ([first = "", second = ""]) => [
      { name: "m", price, context_window: 8_000, deployments: [{ provider: first }], fallbacks: ["long"] },
      {
        ...{ name: "long", price, deployments: [{ provider: second }] },
        ...(window === null ? {} : { context_window: window }),
      },
    ],
  });

/** The errors of the vendors for a prompt that is too long. */
const refusals: readonly (readonly [vendor: string, kind: string, status: number, body: object])[] = [
  [
    "OpenAI",
    "openai",
    400,
    { error: { message: "Your input exceeds the context window of this model.", code: "context_length_exceeded" } },
  ],
  [
    "Azure",
    "openai-compatible",
    400,
    {
      error: { message: "This model's maximum context length is 8192 tokens, however you requested 9000.", code: null },
    },
  ],
  [
    "vLLM",
    "vllm",
    400,
    {
      object: "error",
      message: "This model's maximum context length is 4096 tokens.",
      type: "BadRequestError",
      code: 400,
    },
  ],
  [
    "vLLM's engine",
    "vllm",
    400,
    {
      error: {
        message: "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        code: 400,
      },
    },
  ],
  [
    "SGLang",
    "openai-compatible",
    400,
    { object: "error", message: "The input (9000 tokens) is longer than the model's context length (8192 tokens)." },
  ],
  [
    "llama.cpp",
    "openai-compatible",
    400,
    {
      error: {
        code: 400,
        message: "the request exceeds the available context size",
        type: "exceed_context_size_error",
      },
    },
  ],
  [
    "OpenRouter",
    "openrouter",
    400,
    {
      error: {
        message: "This endpoint's maximum context length is 131072 tokens. However, you asked for more.",
        code: 400,
      },
    },
  ],
  [
    "a vendor behind OpenRouter",
    "openrouter",
    400,
    {
      error: {
        ...{ message: "Provider returned error", code: 400 },
        metadata: { raw: '{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}' },
      },
    },
  ],
  [
    "xAI",
    "xai",
    400,
    {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but more came.",
    },
  ],
  [
    "DeepSeek",
    "deepseek",
    400,
    { error: { message: "This model's maximum context length is 65536 tokens.", code: "invalid_request_error" } },
  ],
  [
    "Mistral",
    "mistral",
    400,
    { object: "error", message: "Prompt contains 40000 tokens, too large for model with 32768 maximum context length" },
  ],
  [
    "Fireworks",
    "fireworks",
    400,
    { error: { message: "The prompt is too long: 140000, model maximum context length: 131072" } },
  ],
  [
    "Moonshot",
    "moonshot",
    400,
    { error: { message: "Invalid request: Your request exceeded model token limit: 131072" } },
  ],
  ["Z.ai", "zhipu", 400, { error: { code: "1261", message: "Prompt 超长" } }],
  ["DashScope", "dashscope", 400, { error: { message: "Range of input length should be [1, 129024]" } }],
  ["MiniMax", "minimax", 400, { error: { message: "invalid params, context window exceeds limit (2013)" } }],
  ["Ollama", "ollama", 400, { error: { message: "prompt too long; exceeded max context length by 100 tokens" } }],
  [
    "Together",
    "together",
    422,
    { error: { message: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193." } },
  ],
];

describe("a prompt that is too long for its model", () => {
  test.each(refusals)("is recognized in the error of %s", async (_, kind, status, body) => {
    await using running = await withFallback(100_000, [() => Response.json(body, { status }), answers], kind);
    expect(await callOnce(running.gateway, chatOf())).toBe(200);
  });

  test("is distinguished from a refused output limit", async () => {
    const message = "max_tokens is too large: 8000. This model supports at most 4096 completion tokens.";
    const refusal: Behavior = () => Response.json({ error: { message, code: "invalid_value" } }, { status: 400 });
    await using running = await withFallback(100_000, [refusal, answers]);
    expect(await callOnce(running.gateway, chatOf())).toBe(400);
  });

  test.each([false, true])("is answered by a fallback with a larger context window (stream: %p)", async (stream) => {
    await using running = await withFallback(100_000, [tooLong, answers]);
    const answer = await running.gateway.chat(chatOf("m", { stream }));
    expect(answer.status).toBe(200);
    await answer.text();
    const entries = await running.gateway.entries();
    expect(entries.map(({ model, outcome, costNanoUsd }) => [model, outcome, costNanoUsd > 0])).toEqual([
      ["long", "succeeded", true],
      ["m", "failed", false],
    ]);
  });

  test.each([8_000, 4_000, null])(
    "is refused with the upstream's error if the fallback has a window of %p",
    async (window) => {
      await using running = await withFallback(window, [tooLong, answers]);
      const answer = await running.gateway.chat(chatOf());
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: "context_length_exceeded" } }]);
      expect(running.accounts[1]?.bodies).toEqual([]);
    },
  );

  test("is recognized in Anthropic's error too", async () => {
    const error = { type: "invalid_request_error", message: "prompt is too long: 9000 tokens > 8000 maximum" };
    const message = {
      ...{ id: "msg_1", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "ok" }] },
      ...{ stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 5, output_tokens: 1 } },
    };
    const refusal: Behavior = () => Response.json({ type: "error", error }, { status: 400 });
    await using running = await withFallback(100_000, [refusal, () => Response.json(message)], "anthropic");
    const headers = { "anthropic-version": "2023-06-01" };
    const body = { ...chatOf(), max_tokens: 9 };
    expect((await running.gateway.post("/v1/messages", body, { headers })).status).toBe(200);
  });
});
