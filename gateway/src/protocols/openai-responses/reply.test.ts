import { describe, expect, test } from "bun:test";
import { Failure, noUsage } from "#core/index.ts";
import { openaiResponsesWire } from "./index.ts";
import { ResponsesStreamTap } from "./stream.ts";

const read = (value: unknown) =>
  openaiResponsesWire.readReply(new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)));
const usage = { input_tokens: 10, output_tokens: 3, total_tokens: 13 };
const response = { id: "resp_1", object: "response", status: "completed", error: null, output: [] };

describe("reading a response", () => {
  test("reads usage of completed, incomplete and failed responses", () => {
    for (const status of ["completed", "incomplete", "failed"]) {
      const error = status === "failed" ? { code: "server_error", message: "oops" } : null;
      const facts = read({ ...response, status, error, usage });
      expect(facts.usage?.usage).toMatchObject({ inputUncached: 10, output: 3 });
      expect(facts.errorMessage).toBeNull();
      expect(facts.id).toBe("resp_1");
    }
  });

  test("reports no usage for a running background response", () => {
    for (const status of ["queued", "in_progress"]) {
      expect(read({ ...response, status, usage: null })).toMatchObject({
        usage: null,
        outputEstimate: 0,
        id: "resp_1",
      });
    }
  });

  test("estimates a response without usage, and keeps zeros", () => {
    const message = { type: "message", content: [{ type: "output_text", text: "x".repeat(400) }] };
    expect(read({ ...response, output: [message] }).outputEstimate).toBeGreaterThan(100);
    const zero = { input_tokens: 0, output_tokens: 0 };
    expect(read({ ...response, output: [message], usage: zero })).toMatchObject({ outputEstimate: 0 });
    expect(read({ ...response, usage: zero }).usage?.usage.output).toBe(0);
  });

  test("distinguishes responses from errors", () => {
    expect(read({ error: { message: "no such thing" } }).errorMessage).toBe("no such thing");
    expect(() => read({ hello: 1 })).toThrow(Failure);
    expect(() => read("not json")).toThrow(Failure);
  });
});

const drawn = {
  image_gen: {
    input_tokens: 300,
    input_tokens_details: { text_tokens: 100, image_tokens: 200 },
    output_tokens: 4_160,
    output_tokens_details: { text_tokens: 0, image_tokens: 4_160 },
    total_tokens: 4_460,
  },
};
const drawing = { type: "image_generation_call", id: "ig_1", status: "completed", result: "QUJD" };
const tool = { type: "image_generation", model: "gpt-image-1.5", size: "1024x1024" };

describe("usage of the image generation tool", () => {
  test("is charged to the image model", () => {
    const body = { ...response, tools: [{ type: "function", model: "no" }, tool], output: [drawing], usage };
    const { usage: reported } = read({ ...body, tool_usage: drawn });
    expect(reported?.usage).toMatchObject({ inputUncached: 10, output: 3, imageOutput: 0 });
    expect(reported?.others).toEqual([
      {
        model: "gpt-image-1.5",
        usage: { ...noUsage, inputUncached: 100, imageInput: 200, imageOutput: 4_160, images: 1 },
      },
    ]);
    expect(reported?.raw).toContain('"image_gen"');
  });

  test("has separate cached input", () => {
    const image_gen = {
      ...drawn.image_gen,
      cached_tokens: 230,
      cached_tokens_details: { cached_text_tokens: 80, cached_image_tokens: 150 },
    };
    const { usage: reported } = read({ ...response, output: [drawing], usage, tool_usage: { image_gen } });
    expect(reported?.others?.[0]).toMatchObject({
      model: "",
      usage: { inputUncached: 20, imageInput: 50, cacheRead: 230 },
    });
  });

  test("is absent if all counts are zero or missing", () => {
    const zero = { image_gen: { input_tokens: 0, output_tokens: 0, total_tokens: 0 }, web_search: { num_requests: 0 } };
    for (const tool_usage of [zero, null, {}, { image_gen: null }]) {
      expect(read({ ...response, tools: [tool], usage, tool_usage }).usage).not.toHaveProperty("others");
    }
  });

  test.each([
    ["in the last event", [drawing]],
    ["in a separate event", []],
  ])("is read from a stream with the picture %s", (_, output) => {
    const tap = new ResponsesStreamTap();
    const event = (data: object): Uint8Array => new TextEncoder().encode(`data: ${JSON.stringify(data)}\n\n`);
    tap.push(event({ type: "response.created", response: { ...response, tools: [tool] } }));
    tap.push(event({ type: "response.output_item.done", item: drawing }));
    tap.push(
      event({ type: "response.completed", response: { ...response, tools: [tool], output, usage, tool_usage: drawn } }),
    );
    expect(tap.usage?.others).toMatchObject([{ model: "gpt-image-1.5", usage: { imageOutput: 4_160, images: 1 } }]);
  });
});

test("counts cache writes for twelve hours as the longer class", () => {
  const details = { cached_tokens: 2, cache_write_tokens: 6, cache_write_tokens_details: { ttl_12h_tokens: 4 } };
  const reported = { ...usage, input_tokens_details: details };
  expect(read({ ...response, usage: reported }).usage?.usage).toMatchObject({
    inputUncached: 2,
    cacheRead: 2,
    cacheWrite5m: 2,
    cacheWrite1h: 4,
  });
});
