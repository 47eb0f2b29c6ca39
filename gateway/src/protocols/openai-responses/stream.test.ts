import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
import { pushCut } from "../../../test/cut-stream.ts";
import { openaiResponses } from "./index.ts";
import { ResponsesStreamTap } from "./stream.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

let number = 0;
const event = (type: string, rest: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...rest })}\n\n`;
const delta = (text: string, type = "response.output_text.delta"): string =>
  event(type, {
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: text,
    logprobs: [],
    obfuscation: "xyzabc",
  });
const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 8, cache_write_tokens: 2 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 27,
};
const response = {
  id: "resp_1",
  object: "response",
  status: "in_progress",
  instructions: 'say "usage":{}',
  output: [],
};
const created = event("response.created", { response: { ...response, usage: null } });
const ending = (kind: string, more: object = {}): string =>
  event(`response.${kind}`, {
    response: { ...response, status: kind, output: [{ type: "message", id: "msg_9" }], usage, ...more },
  });
const body = [
  created,
  event("response.in_progress", { response }),
  event("response.output_item.added", { output_index: 0, item: { id: "msg_1", type: "message" } }),
  delta("Grüße "),
  ": keep-alive\n\n",
  event("keepalive"),
  event("response.made_up_later", { anything: { type: "response.completed" } }),
  delta('a "quoted" word and \\ response.completed'),
  delta("\u{1F600}"),
].join("");
const whole = body + ending("completed");

function listen(text: string, cuts: readonly number[] = []): { tap: ResponsesStreamTap; out: string } {
  const tap = new ResponsesStreamTap();
  return { tap, out: pushCut(tap, text, cuts) };
}

describe("a Responses stream", () => {
  test("passes every byte unchanged and reads id, usage and end", () => {
    const { tap, out } = listen(whole);
    expect(out).toBe(whole);
    expect(tap.usage?.usage).toMatchObject({
      inputUncached: 10,
      cacheRead: 8,
      cacheWrite5m: 2,
      output: 7,
      reasoning: 4,
    });
    expect(tap).toMatchObject({ id: "resp_1", ended: true, usageFinal: true, failure: null, contentSeen: true });
    expect(tap.complete()).toBe(true);
    expect(tap.rest()).toHaveLength(0);
  });

  test("passes the same bytes and reads the same facts for any chunking", () => {
    for (const text of [whole, whole.replaceAll("\n", "\r\n"), whole.replaceAll(/event: .*\n/g, "")]) {
      const plain = listen(text);
      expect(plain.tap).toMatchObject({ ended: true, id: "resp_1" });
      fc.assert(
        fc.property(fc.array(fc.nat({ max: 5_000 }), { maxLength: 40 }), (cuts) => {
          const { tap, out } = listen(text, cuts);
          expect(out).toBe(text);
          expect([tap.events, tap.ended, tap.outputEstimate, tap.usage, tap.id]).toEqual([
            plain.tap.events,
            plain.tap.ended,
            plain.tap.outputEstimate,
            plain.tap.usage,
            plain.tap.id,
          ]);
        }),
        { numRuns: 300 },
      );
    }
  });

  test("does not count keep-alives as events", () => {
    expect(listen(whole).tap.events).toBe(8);
  });

  test("has final usage only after the terminal event", () => {
    expect(listen(body).tap).toMatchObject({ usage: null, usageFinal: false, ended: false });
  });

  test.each(["incomplete", "completed"])("is complete after response.%s", (kind) => {
    const { tap } = listen(body + ending(kind));
    expect([tap.complete(), tap.failure, tap.usage?.usage.output]).toEqual([true, null, 7]);
  });

  test("finds the type at any position of the event, but not in nested values", () => {
    const last = `data: ${JSON.stringify({ response: { type: "response.failed", id: "resp_1", usage }, type: "response.completed" })}\n\n`;
    const { tap } = listen(body + last);
    expect([tap.ended, tap.failure]).toEqual([true, null]);
  });

  test("accepts [DONE] after the terminal event", () => {
    expect(listen(`${whole}data: [DONE]\n\n`).tap).toMatchObject({ ended: true, failure: null });
  });

  test("completes a terminal event without its blank line and delivers it", () => {
    const { tap, out } = listen(whole.slice(0, -2));
    expect(out).toBe(body);
    expect(tap.complete()).toBe(true);
    expect(out + decoder.decode(tap.rest())).toBe(whole);
  });

  test.each([
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
    "response.refusal.delta",
  ])("counts %s as content", (type) => {
    expect(listen(created + delta("abc", type) + delta("x".repeat(80), type)).tap).toMatchObject({
      contentSeen: true,
      outputEstimate: 21,
    });
  });
});

describe("a broken Responses stream", () => {
  test("is incomplete without a terminal event", () => {
    expect(listen(body).tap.complete()).toBe(false);
    expect(listen(whole.slice(0, -30)).tap.complete()).toBe(false);
  });

  test("ends with response.failed, a failure with usage", () => {
    const { tap, out } = listen(body + ending("failed", { error: { code: "server_error", message: "broke" } }));
    expect(tap.ended).toBe(true);
    expect(tap.usage?.usage.output).toBe(7);
    expect(tap.failure?.message).toContain("broke");
    expect(tap.failure?.retry).toBe("other");
    expect(out.endsWith("\n\n")).toBe(true);
  });

  test.each([
    ["flat, as in the SDK types", { code: "server_error", message: "overloaded", param: null }],
    ["nested, as it is sent", { error: { type: "server_error", message: "overloaded" } }],
  ])("reports the error event %s and passes it on, even before response.failed", (_, rest) => {
    const text =
      created + event("error", rest) + ending("failed", { error: { code: "server_error", message: "late" } });
    const { tap, out } = listen(text);
    expect(out).toBe(text);
    expect(tap.failure?.message).toContain("overloaded");
    expect(tap.ended).toBe(true);
  });

  test("does not retry an error that any upstream would return", () => {
    const error = { error: { code: "context_length_exceeded", message: "too long" } };
    expect(listen(created + event("error", error)).tap.failure).toMatchObject({
      contextLength: true,
      retry: "never",
    });
  });

  test("fails on a first event that is not JSON, so that another deployment is tried", () => {
    expect(() => listen("event: response.created\ndata: {broken\n\n")).toThrow(Failure);
    expect(() => listen("data: <html>\n\n")).toThrow(Failure);
  });

  test("continues ids and sequence numbers in a failure of the gateway", () => {
    number = 0;
    const { tap } = listen(event("response.created", { response }) + delta("x"));
    const text = decoder.decode(tap.breakOff(new Failure("upstream_timeout", "too slow")));
    const [error, failed] = text
      .split("\n\n")
      .map((lines) => JSON.parse(lines.slice(lines.indexOf("data: ") + 6) || "{}"));
    expect(error).toMatchObject({ type: "error", sequence_number: 2, message: "too slow", code: "upstream_timeout" });
    expect(failed).toMatchObject({
      type: "response.failed",
      sequence_number: 3,
      response: { id: "resp_1", status: "failed" },
    });
  });
});

test("reports an early error in both formats that clients read", () => {
  const text = openaiResponses.renderStreamError(new Failure("draining", "going down"), "req_1");
  expect(text).toStartWith("event: error\ndata: ");
  expect(text).toContain("\n\nevent: response.failed\ndata: ");
  expect(text).toEndWith("\n\n");
});

test.each(["code_interpreter_call_code", "mcp_call_arguments", "shell_call_command", "audio.transcript"])(
  "counts %s when the stream breaks off",
  (kind) => {
    const tap = new ResponsesStreamTap();
    tap.push(encoder.encode(created + delta("x".repeat(400), `response.${kind}.delta`)));
    expect(tap.contentSeen).toBe(true);
    expect(tap.outputEstimate).toBe(100);
  },
);
