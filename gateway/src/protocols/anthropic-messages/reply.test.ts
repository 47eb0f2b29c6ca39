import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { anthropicMessagesWire, countTokensWire } from "./index.ts";
import { readMessagesUsage } from "./reply.ts";

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

const message = {
  id: "msg_1",
  type: "message",
  content: [{ type: "text", text: "Hello there" }],
  stop_reason: "end_turn",
};

describe("splitting Anthropic's usage into classes", () => {
  test.each([
    ["plain", { input_tokens: 12, output_tokens: 5 }, { inputUncached: 12, output: 5 }],
    ["zeros are values", { input_tokens: 0, output_tokens: 0 }, { inputUncached: 0, output: 0 }],
    [
      "cached tokens are in addition to the input",
      { input_tokens: 12, cache_read_input_tokens: 2_048, cache_creation_input_tokens: 100, output_tokens: 5 },
      { inputUncached: 12, cacheRead: 2_048, cacheWrite5m: 100, cacheWrite1h: 0, output: 5 },
    ],
    [
      "writes are split by how long they last",
      {
        input_tokens: 1,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
        output_tokens: 1,
      },
      { cacheWrite5m: 100, cacheWrite1h: 200 },
    ],
    [
      "cache writes outside of the split count as five minutes",
      {
        input_tokens: 1,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 1,
      },
      { cacheWrite5m: 300, cacheWrite1h: 0 },
    ],
    [
      "a split alone is enough",
      { input_tokens: 1, cache_creation: { ephemeral_1h_input_tokens: 7 }, output_tokens: 1 },
      { cacheWrite5m: 0, cacheWrite1h: 7 },
    ],
    [
      "thinking is inside the output",
      { input_tokens: 1, output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } },
      { output: 50, reasoning: 40 },
    ],
  ])("%s", (_, reported, classes) => {
    expect(readMessagesUsage(reported)?.usage).toMatchObject(classes);
  });

  test.each([[null], [undefined], [{}], [{ input_tokens: -1 }], ["12"]])("returns null for %j", (reported) => {
    expect(readMessagesUsage(reported)).toBeNull();
  });
});

describe("reading a whole reply", () => {
  test("reads usage, id and size", () => {
    const usage = { input_tokens: 3, output_tokens: 2 };
    const facts = anthropicMessagesWire.readReply(bytes({ ...message, usage }));
    expect(facts).toMatchObject({ id: "msg_1", errorMessage: null });
    expect(facts.usage).toEqual({ usage: expect.objectContaining({ inputUncached: 3 }), raw: JSON.stringify(usage) });
    expect(facts.outputEstimate).toBe(Math.ceil(JSON.stringify(message.content).length / 4));
  });

  test("returns null for missing usage, so that it is estimated", () => {
    expect(anthropicMessagesWire.readReply(bytes(message)).usage).toBeNull();
  });

  test("reads an error with status 200", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(anthropicMessagesWire.readReply(bytes(error)).errorMessage).toBe("Overloaded");
    expect(countTokensWire.readReply(bytes(error)).errorMessage).toBe("Overloaded");
  });

  test.each([["{broken"], ["[]"], ["{}"], ['{"choices":[]}']])(
    "rejects %s, so that another deployment is tried",
    (text) => {
      try {
        anthropicMessagesWire.readReply(bytes(text));
        throw new Error("accepted");
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(Failure);
        expect(thrown).toMatchObject({ code: "upstream_error", retry: "other" });
      }
    },
  );

  test("reports no usage for a token count", () => {
    expect(countTokensWire.readReply(bytes({ input_tokens: 2_095 }))).toEqual({
      usage: null,
      errorMessage: null,
      outputEstimate: 0,
      id: null,
    });
    expect(() => countTokensWire.readReply(bytes({ input_tokens: "many" }))).toThrow(Failure);
    expect(() => countTokensWire.readReply(bytes({}))).toThrow(Failure);
  });
});
