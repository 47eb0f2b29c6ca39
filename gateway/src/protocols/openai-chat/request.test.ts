import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
import { patchRequest } from "../request/change-body.ts";
import { openaiChatWire } from "./index.ts";
import { readChatRequest } from "./request.ts";

const encoder = new TextEncoder();
const bytes = (value: unknown): Uint8Array => encoder.encode(typeof value === "string" ? value : JSON.stringify(value));
const messages = [{ role: "user", content: "hi" }];

function patched(body: unknown, upstreamModel: string): unknown {
  const raw = bytes(body);
  return JSON.parse(new TextDecoder().decode(patchRequest(openaiChatWire, raw, readChatRequest(raw), upstreamModel)));
}

function refusal(body: unknown): { code: string; param: string | null } {
  try {
    readChatRequest(bytes(body));
  } catch (thrown) {
    if (thrown instanceof Failure) return { code: thrown.code, param: thrown.param };
    throw thrown;
  }
  throw new Error("was accepted");
}

describe("a chat request for the upstream", () => {
  test("changes only the model", () => {
    const extra = fc.dictionary(
      // Names other than governed ones in any spelling, because those are refused.
      fc
        .string()
        .filter(
          (key) => !["model", "messages", "stream", "stream_options", "n", "__proto__"].includes(key.toLowerCase()),
        ),
      fc.jsonValue({ maxDepth: 4 }),
    );
    fc.assert(
      fc.property(extra, fc.string({ minLength: 1 }), fc.constantFrom(0, 2), (more, name, indent) => {
        const body = JSON.stringify({ ...more, model: "public", messages }, null, indent);
        expect(patched(body, name)).toEqual({ ...(JSON.parse(body) as object), model: name });
      }),
      { numRuns: 500 },
    );
  });

  test("returns the same bytes if nothing changes", () => {
    const raw = bytes({ model: "same", messages });
    expect(patchRequest(openaiChatWire, raw, readChatRequest(raw), "same")).toBe(raw);
  });

  test.each([
    [undefined, { include_usage: true }],
    [null, { include_usage: true }],
    [{}, { include_usage: true }],
    [{ include_usage: false }, { include_usage: true }],
    [{ include_obfuscation: false }, { include_usage: true, include_obfuscation: false }],
    [
      { include_usage: null, x: 1 },
      { include_usage: true, x: 1 },
    ],
  ])("requests usage for a stream with options %p", (options, expected) => {
    const body = { model: "m", stream: true, messages, ...(options === undefined ? {} : { stream_options: options }) };
    expect(patched(body, "m")).toEqual({ ...body, stream_options: expected });
  });

  test("does not request usage if the caller requested it or does not stream", () => {
    const asked = { model: "m", stream: true, stream_options: { include_usage: true }, messages };
    expect(patched(asked, "m")).toEqual(asked);
    expect(readChatRequest(bytes(asked)).wantsUsage).toBe(true);
    expect(patched({ model: "m", messages }, "m")).toEqual({ model: "m", messages });
  });

  test("multiplies the output limit by the number of choices", () => {
    expect(readChatRequest(bytes({ model: "m", messages, max_tokens: 7 })).outputTokensMax).toBe(7);
    expect(
      readChatRequest(bytes({ model: "m", messages, max_tokens: 7, max_completion_tokens: 9, n: 2 })).outputTokensMax,
    ).toBe(18);
    expect(readChatRequest(bytes({ model: "m", messages })).outputTokensMax).toBeNull();
  });
});

describe("an invalid chat request", () => {
  test.each([
    ["", "invalid_json", null],
    ["[]", "invalid_json", null],
    ['{"model":"m"', "invalid_json", null],
    ['{"model":"a","model":"b","messages":[1]}', "invalid_json", null],
    [{ messages }, "missing_required_parameter", "model"],
    [{ model: "", messages }, "missing_required_parameter", "model"],
    [{ model: 5, messages }, "invalid_request", "model"],
    [{ model: "x".repeat(300), messages }, "invalid_request", "model"],
    [{ model: "m" }, "missing_required_parameter", "messages"],
    [{ model: "m", messages: "hi" }, "invalid_request", "messages"],
    [{ model: "m", messages: "x" }, "invalid_request", "messages"],
    [{ model: "m", messages, stream: "yes" }, "invalid_request", "stream"],
  ])("rejects %j as %s, naming %s", (body, code, param) => {
    expect(refusal(body)).toEqual({ code, param });
  });
});
