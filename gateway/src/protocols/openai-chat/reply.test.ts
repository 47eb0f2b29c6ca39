import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readChatReply } from "./reply.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** A reply that is too large to be parsed, and is scanned. */
const padded = (text: string): Uint8Array => bytes(text + " ".repeat(3_000));

const count = fc.nat(1_000);
const reply = fc.record(
  {
    id: fc.oneof(fc.string(), fc.constant(null), fc.constant(7), fc.constant("x".repeat(300))),
    model: fc.oneof(fc.string(), fc.constant(null)),
    service_tier: fc.constantFrom("default", "flex", null),
    choices: fc.array(fc.record({ index: count, message: fc.record({ content: fc.string() }) }), { maxLength: 2 }),
    usage: fc.record(
      { prompt_tokens: count, completion_tokens: count, prompt_tokens_details: fc.record({ cached_tokens: count }) },
      { requiredKeys: [] },
    ),
    error: fc.constantFrom(null, { message: "busy" }),
    base_resp: fc.constantFrom({ status_code: 0 }, { status_code: 1_002, status_msg: "slow down" }),
  },
  { requiredKeys: [] },
);

describe("a chat reply", () => {
  test("has the same facts whether it is parsed or scanned", () => {
    fc.assert(
      fc.property(reply, fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const { outputEstimate: estimate, ...facts } = readChatReply(bytes(text));
        const { outputEstimate: scanned, ...others } = readChatReply(padded(text));
        expect(facts).toEqual(others);
        // It counts only for a reply without complete usage.
        if (facts.usage === null || facts.usage.missingSide !== undefined) expect(estimate).toBe(scanned);
      }),
    );
  });

  test.each([
    ["cut off", '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}'],
    [
      "with usage twice",
      '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1},"usage":{"prompt_tokens":0}}',
    ],
    ["that is no object", '["usage"]'],
  ])("%s is refused", (_, text) => {
    expect(() => readChatReply(bytes(text))).toThrow("not valid JSON");
    expect(() => readChatReply(padded(text))).toThrow("not valid JSON");
  });
});
