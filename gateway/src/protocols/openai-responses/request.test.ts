import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
import { patchRequest } from "../request/change-body.ts";
import { openaiResponsesWire, responsesCompactWire } from "./index.ts";

const encoder = new TextEncoder();
const bytes = (value: unknown): Uint8Array => encoder.encode(typeof value === "string" ? value : JSON.stringify(value));
const facts = (body: unknown) => openaiResponsesWire.readRequest(bytes(body), null);
const base = { model: "m", input: "hi" };

function refusal(wire: typeof openaiResponsesWire, body: unknown): { code: string; param: string | null } {
  try {
    wire.readRequest(bytes(body), null);
  } catch (thrown) {
    if (thrown instanceof Failure) return { code: thrown.code, param: thrown.param };
    throw thrown;
  }
  throw new Error("was accepted");
}

describe("a Responses request for the upstream", () => {
  test("changes only the model", () => {
    const extra = fc.dictionary(
      fc.string().filter((key) => !Object.hasOwn(known, key.toLowerCase()) && key !== "__proto__"),
      fc.jsonValue({ maxDepth: 4 }),
    );
    fc.assert(
      fc.property(extra, fc.string({ minLength: 1 }), fc.constantFrom(0, 2), (more, name, indent) => {
        const text = JSON.stringify(
          { ...more, model: "public", input: [{ role: "user", content: "x" }] },
          null,
          indent,
        );
        const raw = bytes(text);
        const patched = patchRequest(openaiResponsesWire, raw, openaiResponsesWire.readRequest(raw, null), name);
        expect(new TextDecoder().decode(patched)).toBe(text.replace('"public"', () => JSON.stringify(name)));
      }),
      { numRuns: 400 },
    );
  });

  test("returns the same bytes if nothing changes", () => {
    const raw = bytes(base);
    expect(patchRequest(openaiResponsesWire, raw, openaiResponsesWire.readRequest(raw, null), "m")).toBe(raw);
  });

  test("uses the cache key, or else the user, as affinity", () => {
    expect(facts({ ...base, prompt_cache_key: "k", user: "u" }).affinity).toBe("k");
    expect(facts({ ...base, safety_identifier: "s", user: "u" }).affinity).toBe("s");
    expect(facts({ ...base, user: "u" }).affinity).toBe("u");
    expect(facts(base).affinity).toBeNull();
  });

  test("reads the response or conversation that it continues", () => {
    expect(facts({ model: "m", previous_response_id: "resp_1" }).continues?.id).toBe("resp_1");
    for (const conversation of ["conv_1", { id: "conv_1" }]) {
      const read = facts({ ...base, conversation });
      expect([read.continues, read.objects?.[0]]).toEqual([
        null,
        { param: "conversation", id: "conv_1", kind: "conversation" },
      ]);
    }
    expect(facts({ ...base, previous_response_id: null }).continues).toBeNull();
  });

  test("is stored unless `store` is false, but always as a background response", () => {
    expect(facts(base).storesAs).toBe("response");
    expect(facts({ ...base, store: null }).storesAs).toBe("response");
    expect(facts({ ...base, store: false }).storesAs).toBeNull();
    expect(facts({ ...base, store: false, background: true }).storesAs).toBe("response");
  });

  test("accepts a missing input if a prompt or conversation provides it", () => {
    expect(facts({ model: "m", prompt: { id: "pmpt_1" } }).model).toBe("m");
    expect(facts({ model: "m", input: null, conversation: "conv_1" }).model).toBe("m");
  });

  test("estimates one token per four bytes of text, and ignores the size of inline pictures", () => {
    const picture = (size: number) =>
      facts({
        model: "m",
        input: [
          {
            role: "user",
            content: [{ type: "input_image", image_url: `data:image/png;base64,${"A".repeat(size)}`, detail: "auto" }],
          },
        ],
      }).inputEstimate;
    expect(picture(4_000_000)).toBe(picture(8_000));
    expect(facts({ model: "m", input: "x".repeat(4_000) }).inputEstimate).toBeGreaterThanOrEqual(1_000);
    expect(facts({ model: "m", input: "x", tools: [], instructions: "y".repeat(400) }).inputEstimate).toBe(102);
  });

  test("reads streaming and the output limit", () => {
    expect(facts({ ...base, stream: true, max_output_tokens: 64 })).toMatchObject({
      stream: true,
      outputTokensMax: 64,
    });
    expect(facts(base)).toMatchObject({ stream: false, outputTokensMax: null, wantsUsage: true, images: 0 });
  });
});

describe("an invalid Responses request", () => {
  test.each([
    ["", "invalid_json", null],
    ["[]", "invalid_json", null],
    ['{"model":"a","model":"b","input":"x"}', "invalid_json", null],
    [{ input: "x" }, "missing_required_parameter", "model"],
    [{ model: 5, input: "x" }, "invalid_request", "model"],
    [{ model: "m" }, "missing_required_parameter", "input"],
    [{ model: "m", input: null }, "missing_required_parameter", "input"],
    [{ model: "m", input: 7 }, "invalid_request", "input"],
    [{ model: "m", input: {} }, "invalid_request", "input"],
    [{ model: "m", input: "x", stream: "yes" }, "invalid_request", "stream"],
  ])("rejects %j as %s, naming %s", (body, code, param) => {
    expect(refusal(openaiResponsesWire, body)).toEqual({ code, param });
  });
});

describe("a compaction", () => {
  test("requires only a model, and is neither streamed nor stored", () => {
    expect(refusal(responsesCompactWire, { input: "x" })).toEqual({
      code: "missing_required_parameter",
      param: "model",
    });
    const read = responsesCompactWire.readRequest(bytes({ ...base, stream: true, prompt_cache_key: "k" }), null);
    expect(read).toMatchObject({ stream: false, storesAs: null, affinity: "k", outputTokensMax: null });
    const continued = responsesCompactWire.readRequest(bytes({ model: "m", previous_response_id: "resp_1" }), null);
    expect(continued.continues?.id).toBe("resp_1");
  });

  test("reports its usage", () => {
    const reply = {
      id: "resp_1",
      object: "response.compaction",
      created_at: 1,
      output: [{ type: "compaction", id: "cmp_1", encrypted_content: "x" }],
      usage: {
        input_tokens: 139,
        input_tokens_details: { cached_tokens: 9, cache_write_tokens: 30 },
        output_tokens: 438,
        output_tokens_details: { reasoning_tokens: 64 },
        total_tokens: 577,
      },
    };
    const { usage, id } = responsesCompactWire.readReply(bytes(reply));
    expect(usage?.usage).toMatchObject({
      inputUncached: 100,
      cacheRead: 9,
      cacheWrite5m: 30,
      output: 438,
      reasoning: 64,
    });
    expect(id).toBe("resp_1");
  });
});

const known = {
  model: 0,
  input: 0,
  stream: 0,
  store: 0,
  background: 0,
  conversation: 0,
  prompt: 0,
  previous_response_id: 0,
};
