import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
import { patchRequest } from "../request/change-body.ts";
import { anthropicMessagesWire, countTokensWire } from "./index.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const good = { model: "claude-sonnet-5", max_tokens: 1_024, messages: [{ role: "user", content: "Hi" }] };

function refusal(body: unknown, wire = anthropicMessagesWire): Failure {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  try {
    wire.readRequest(encoder.encode(text), null);
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
  throw new Error("the request was accepted");
}

const read = (body: unknown) => anthropicMessagesWire.readRequest(encoder.encode(JSON.stringify(body)), null);
const without = (name: string): object => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));

describe("reading a messages request", () => {
  test("reads model, streaming, limits and user", () => {
    const session = JSON.stringify({ device_id: "d", account_uuid: "", session_id: "s-1" });
    const facts = read({ ...good, stream: true, system: "Be brief.", metadata: { user_id: session } });
    expect(facts).toMatchObject({
      model: "claude-sonnet-5",
      stream: true,
      wantsUsage: true,
      outputTokensMax: 1_024,
      affinity: session,
      continues: null,
      storesAs: null,
      images: 0,
    });
    const size = JSON.stringify(good.messages).length + JSON.stringify("Be brief.").length;
    expect(facts.inputEstimate).toBe(Math.ceil(size / 4));
  });

  test("counts instructions and tools in the input estimate", () => {
    const tools = [{ name: "look", input_schema: { type: "object" } }];
    expect(read({ ...good, tools }).inputEstimate).toBeGreaterThan(read(good).inputEstimate);
  });

  test("sets no affinity without a user id or if it is too long", () => {
    expect(read(good).affinity).toBeNull();
    expect(read({ ...good, metadata: { user_id: "x".repeat(10_000) } }).affinity).toBeNull();
    expect(read({ ...good, metadata: null }).affinity).toBeNull();
  });

  test("accepts zero for max_tokens and null for stream", () => {
    expect(read({ ...good, max_tokens: 0, stream: null })).toMatchObject({ outputTokensMax: 0, stream: false });
  });

  test.each([
    [without("model"), "missing_required_parameter", "model"],
    [without("messages"), "missing_required_parameter", "messages"],
    [without("max_tokens"), "missing_required_parameter", "max_tokens"],
    [{ ...good, max_tokens: null }, "missing_required_parameter", "max_tokens"],
    [{ ...good, model: "" }, "missing_required_parameter", "model"],
    [{ ...good, model: 7 }, "invalid_request", "model"],
    [{ ...good, model: "m".repeat(257) }, "invalid_request", "model"],
    [{ ...good, messages: "Hi" }, "invalid_request", "messages"],
    [{ ...good, messages: "x" }, "invalid_request", "messages"],
    [{ ...good, max_tokens: "10" }, "invalid_request", "max_tokens"],
    [{ ...good, max_tokens: -1 }, "invalid_request", "max_tokens"],
    [{ ...good, max_tokens: 1.5 }, "invalid_request", "max_tokens"],
    [{ ...good, stream: "yes" }, "invalid_request", "stream"],
    ["[1]", "invalid_json", null],
    ['{"model":"a","model":"b"}', "invalid_json", null],
    ["", "invalid_json", null],
  ])("rejects %j as %s", (body, code, param) => {
    expect(refusal(body)).toMatchObject({ code, param });
  });

  test("reads a token count without max_tokens, output or streaming", () => {
    const body = encoder.encode(JSON.stringify({ ...without("max_tokens"), stream: true }));
    expect(countTokensWire.readRequest(body, null)).toMatchObject({ stream: false, outputTokensMax: null });
    expect(refusal(without("model"), countTokensWire)).toMatchObject({ param: "model" });
  });
});

describe("the request to the upstream", () => {
  test("changes only the model, for any body and escaping", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string({ minLength: 1 }), (rest, name) => {
        const { model: _, stream: __, metadata: ___, ...others } = rest;
        const { model, max_tokens, messages } = good;
        const spaced = JSON.stringify({ model, ...others, max_tokens, messages }, null, 2).replace(
          '"model"',
          '"\\u006dodel"',
        );
        const body = encoder.encode(spaced);
        const facts = anthropicMessagesWire.readRequest(body, null);
        const patched = decoder.decode(patchRequest(anthropicMessagesWire, body, facts, name));
        expect(patched).toBe(spaced.replace('"claude-sonnet-5"', () => JSON.stringify(name)));
      }),
      { numRuns: 300 },
    );
  });

  test("returns the same body if the model is the same", () => {
    const body = encoder.encode(JSON.stringify(good));
    const facts = anthropicMessagesWire.readRequest(body, null);
    expect(patchRequest(anthropicMessagesWire, body, facts, "claude-sonnet-5")).toBe(body);
  });
});
