import { describe, expect, test } from "bun:test";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import fc from "fast-check";
import { bounds, Failure } from "#core/index.ts";
import { AwsEventStream } from "./aws-event-stream.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (body: Uint8Array): string => new TextDecoder().decode(body);
const codec = new EventStreamCodec(
  (input) => (typeof input === "string" ? input : text(input)),
  (input) => bytes(input),
);

function frame(headers: Readonly<Record<string, string>>, payload: string): Uint8Array {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: "string", value }] as const);
  return codec.encode({ headers: Object.fromEntries(typed), body: bytes(payload) });
}

const event = (type: string, payload: object): Uint8Array =>
  frame(
    { ":message-type": "event", ":event-type": type, ":content-type": "application/json" },
    JSON.stringify(payload),
  );

/** A chunk of InvokeModelWithResponseStream, padded as Bedrock pads it. */
const chunk = (inner: string): Uint8Array =>
  event("chunk", { bytes: Buffer.from(inner, "utf8").toString("base64"), p: "abcdefgh" });

const exception = (type: string, message: string): Uint8Array =>
  frame({ ":message-type": "exception", ":exception-type": type }, JSON.stringify({ message }));

const joined = (...frames: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(frames));
const decoded = (...frames: readonly Uint8Array[]): string => text(new AwsEventStream().push(joined(...frames)));

describe("Amazon's event stream", () => {
  test("returns a Claude model's events as Anthropic sends them", () => {
    const delta = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße"}}';
    expect(decoded(chunk(delta), chunk('{"type":"message_stop"}'))).toBe(
      `event: content_block_delta\ndata: ${delta}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n`,
    );
  });

  test("returns Converse events by name", () => {
    expect(
      decoded(event("messageStart", { role: "assistant" }), event("messageStop", { stopReason: "end_turn" })),
    ).toBe(
      'event: messageStart\ndata: {"messageStart":{"role":"assistant"}}\n\n' +
        'event: messageStop\ndata: {"messageStop":{"stopReason":"end_turn"}}\n\n',
    );
  });

  test("keeps JSON with line breaks in one event", () => {
    expect(decoded(chunk('{\n  "type": "ping"\r\n}'))).toBe('event: ping\ndata: {   "type": "ping" }\n\n');
  });

  test.each([
    ["throttlingException", "rate_limit_error"],
    ["serviceUnavailableException", "overloaded_error"],
    ["validationException", "invalid_request_error"],
    ["internalServerException", "api_error"],
    ["modelStreamErrorException", "api_error"],
  ])("turns the exception %s into an error event of type %s", (name, type) => {
    const out = decoded(exception(name, "why"));
    expect(out).toStartWith("event: error\ndata: ");
    expect(JSON.parse(out.slice("event: error\ndata: ".length))).toEqual({
      type: "error",
      error: { type, message: "why", code: name },
    });
  });

  test("turns a transport error into an error event", () => {
    const out = decoded(frame({ ":message-type": "error", ":error-code": "Gone", ":error-message": "no more" }, ""));
    expect(JSON.parse(out.split("data: ")[1] ?? "")).toMatchObject({ error: { message: "no more" } });
  });

  test("returns nothing for empty frames", () => {
    expect(decoded(event("initial-response", {}))).toBe("");
  });

  test("returns the same for any chunking", () => {
    const stream = joined(
      event("initial-response", {}),
      event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "a€b" }, p: "x".repeat(300) }),
      chunk('{"type":"message_stop"}'),
      exception("throttlingException", "slow down"),
    );
    const whole = text(new AwsEventStream().push(stream));
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
        const decoder = new AwsEventStream();
        const at = [0, ...cuts.sort((a, b) => a - b), stream.length];
        const pieces = at.slice(1).map((end, index) => decoder.push(stream.subarray(at[index], end)));
        expect(text(joined(...pieces))).toBe(whole);
      }),
    );
    const slow = new AwsEventStream();
    const single = [...stream].map((byte) => slow.push(Uint8Array.of(byte)));
    expect(text(joined(...single))).toBe(whole);
  });

  test("returns what precedes damaged bytes, then throws", () => {
    const good = chunk('{"type":"ping"}');
    const bad = chunk('{"type":"message_stop"}');
    bad[bad.length - 5] = (bad[bad.length - 5] ?? 0) ^ 1;
    const decoder = new AwsEventStream();
    expect(text(decoder.push(joined(good, bad)))).toContain("ping");
    expect(() => decoder.push(new Uint8Array(0))).toThrow(Failure);
    expect(() => new AwsEventStream().push(bad)).toThrow("damaged");
  });

  test("rejects a frame larger than any event without buffering it", () => {
    const head = new Uint8Array(8);
    new DataView(head.buffer).setUint32(0, bounds.eventBytesMax + 1);
    expect(() => new AwsEventStream().push(head)).toThrow(`more than ${bounds.eventBytesMax} bytes`);
  });

  test("rejects a frame that is too short", () => {
    expect(() => new AwsEventStream().push(new Uint8Array(8))).toThrow("damaged");
  });
});
