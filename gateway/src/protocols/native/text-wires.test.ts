import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { patchRequest } from "../request/change-body.ts";
import { embeddingsWire } from "./text-wires.ts";

const encoder = new TextEncoder();
const bytes = (value: unknown): Uint8Array => encoder.encode(typeof value === "string" ? value : JSON.stringify(value));
const read = (value: unknown) => embeddingsWire.readRequest(bytes(value), null);

function refusal(body: unknown): { code: string; param: string | null } {
  try {
    read(body);
  } catch (thrown) {
    if (thrown instanceof Failure) return { code: thrown.code, param: thrown.param };
    throw thrown;
  }
  throw new Error("was accepted");
}

describe("an embeddings request", () => {
  test("changes only the model", () => {
    const body = '{"input" : ["a","b"],"model":"public","encoding_format":"base64","dimensions":256,"x":{"y":[1]}}';
    const facts = read(body);
    const sent = new TextDecoder().decode(patchRequest(embeddingsWire, bytes(body), facts, "org/embed-3"));
    expect(sent).toBe(body.replace('"public"', '"org/embed-3"'));
  });

  test.each([
    ["a text", "x".repeat(400), 100],
    ["texts", ["x".repeat(200), "x".repeat(200)], 102],
    ["tokens", [1, 22, 333], 3],
    ["several texts' tokens", [[1, 22], [333], [4, 5, 6]], 6],
  ])("estimates input from %s", (_, input, expected) => {
    expect(read({ model: "m", input }).inputEstimate).toBe(expected);
  });

  test("reserves no output and never streams", () => {
    expect(read({ model: "m", input: "x", stream: true })).toMatchObject({ stream: false, outputTokensMax: 0 });
    expect(() => embeddingsWire.tapStream(false)).toThrow(Failure);
  });

  test.each([
    ["[]", "invalid_json", null],
    [{ input: "x" }, "missing_required_parameter", "model"],
    [{ model: "m" }, "missing_required_parameter", "input"],
    [{ model: "m", input: 5 }, "invalid_request", "input"],
    [{ model: "m", input: { text: "x" } }, "invalid_request", "input"],
    [{ model: "m", input: null }, "missing_required_parameter", "input"],
  ])("rejects %j as %s, naming %s", (body, code, param) => {
    expect(refusal(body)).toEqual({ code, param });
  });
});

describe("an embeddings answer", () => {
  const data = [{ object: "embedding", index: 0, embedding: [0.1, -0.2] }];

  test("uses the reported numbers, including zero", () => {
    const usage = (value: unknown) => embeddingsWire.readReply(bytes({ object: "list", data, usage: value })).usage;
    expect(usage({ prompt_tokens: 7, total_tokens: 7 })?.usage).toMatchObject({ inputUncached: 7, output: 0 });
    expect(usage({ total_tokens: 0 })?.usage.inputUncached).toBe(0);
    expect(usage(undefined)).toBeNull();
    expect(usage({})).toBeNull();
  });

  test("reads an error with status 200", () => {
    expect(embeddingsWire.readReply(bytes({ error: { message: "no" } })).errorMessage).toBe("no");
    expect(embeddingsWire.readReply(bytes({ data, error: null })).errorMessage).toBeNull();
    expect(() => embeddingsWire.readReply(bytes("<html>"))).toThrow(Failure);
  });
});
