import { describe, expect, test } from "bun:test";
import { answers, type Behavior, chatOf, refuses, startAccounts } from "./accounts.ts";

const tooLong = refuses(400, "context_length_exceeded");
const price = { input: 1 };

/** A model of a small window, whose fallback has another. */
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

describe("a prompt that is too long for its model", () => {
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
    "is refused as its upstream said it where the fallback has a window of %p",
    async (window) => {
      await using running = await withFallback(window, [tooLong, answers]);
      const answer = await running.gateway.chat(chatOf());
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: "context_length_exceeded" } }]);
      expect(running.accounts[1]?.bodies).toEqual([]);
    },
  );

  test("is told apart in Anthropic's words as well", async () => {
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
