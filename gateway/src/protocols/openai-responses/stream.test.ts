import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
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
  const bytes = encoder.encode(text);
  const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((one, other) => one - other);
  const out: Uint8Array[] = [];
  let from = 0;
  for (const to of [...places, bytes.length]) {
    out.push(tap.push(bytes.slice(from, to)).slice());
    from = to;
  }
  return { tap, out: decoder.decode(Buffer.concat(out)) };
}

describe("a Responses stream on its way through", () => {
  test("passes every byte unchanged and is read for id, usage and end", () => {
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

  test("however the bytes are cut, the caller gets the same bytes and the gateway reads the same facts", () => {
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

  test("keep-alives are not counted as events", () => {
    expect(listen(whole).tap.events).toBe(8);
  });

  test("usage is final only once the terminal event has told it", () => {
    expect(listen(body).tap).toMatchObject({ usage: null, usageFinal: false, ended: false });
  });

  test.each(["incomplete", "completed"])("a stream that ends with response.%s is complete", (kind) => {
    const { tap } = listen(body + ending(kind));
    expect([tap.complete(), tap.failure, tap.usage?.usage.output]).toEqual([true, null, 7]);
  });

  test("the type is found wherever it stands in the payload, and never inside another value", () => {
    const last = `data: ${JSON.stringify({ response: { type: "response.failed", id: "resp_1", usage }, type: "response.completed" })}\n\n`;
    const { tap } = listen(body + last);
    expect([tap.ended, tap.failure]).toEqual([true, null]);
  });

  test("[DONE] behind the terminal event is tolerated", () => {
    expect(listen(`${whole}data: [DONE]\n\n`).tap).toMatchObject({ ended: true, failure: null });
  });

  test("a terminal event whose blank line is missing at the end still completes, and is still delivered", () => {
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
  ])("%s counts as content: short pieces a token each, long ones a token for four bytes", (type) => {
    expect(listen(created + delta("abc", type) + delta("x".repeat(80), type)).tap).toMatchObject({
      contentSeen: true,
      outputEstimate: 21,
    });
  });
});

describe("a Responses stream that goes wrong", () => {
  test("ending without a terminal event is not complete, cut inside it neither", () => {
    expect(listen(body).tap.complete()).toBe(false);
    expect(listen(whole.slice(0, -30)).tap.complete()).toBe(false);
  });

  test("response.failed is an ending and a failure, with its usage", () => {
    const { tap, out } = listen(body + ending("failed", { error: { code: "server_error", message: "broke" } }));
    expect(tap.ended).toBe(true);
    expect(tap.usage?.usage.output).toBe(7);
    expect(tap.failure?.message).toContain("broke");
    expect(tap.failure?.retry).toBe("other");
    expect(out.endsWith("\n\n")).toBe(true);
  });

  test.each([
    ["flat, as the types say", { code: "server_error", message: "overloaded", param: null }],
    ["nested, as it is sent", { error: { type: "server_error", message: "overloaded" } }],
  ])("an error event, %s, is noticed and passed on, and response.failed may follow it", (_, rest) => {
    const text =
      created + event("error", rest) + ending("failed", { error: { code: "server_error", message: "late" } });
    const { tap, out } = listen(text);
    expect(out).toBe(text);
    expect(tap.failure?.message).toContain("overloaded");
    expect(tap.ended).toBe(true);
  });

  test("an error that any upstream would give is not tried elsewhere", () => {
    const error = { error: { code: "context_length_exceeded", message: "too long" } };
    expect(listen(created + event("error", error)).tap.failure).toMatchObject({
      contextLength: true,
      retry: "never",
    });
  });

  test("a first event that is not JSON fails while another deployment can still be tried", () => {
    expect(() => listen("event: response.created\ndata: {broken\n\n")).toThrow(Failure);
    expect(() => listen("data: <html>\n\n")).toThrow(Failure);
  });

  test("a failure of the gateway goes on with the stream's own id and numbers", () => {
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

test("an error before anything is known of the stream is told to those who listen for errors and to those who do not", () => {
  const text = openaiResponses.renderStreamError(new Failure("draining", "going down"), "req_1");
  expect(text).toStartWith("event: error\ndata: ");
  expect(text).toContain("\n\nevent: response.failed\ndata: ");
  expect(text).toEndWith("\n\n");
});

test.each(["code_interpreter_call_code", "mcp_call_arguments", "shell_call_command", "audio.transcript"])(
  "what a model writes as %s is counted when the stream breaks off",
  (kind) => {
    const tap = new ResponsesStreamTap();
    tap.push(encoder.encode(created + delta("x".repeat(400), `response.${kind}.delta`)));
    expect(tap.contentSeen).toBe(true);
    expect(tap.outputEstimate).toBe(100);
  },
);
