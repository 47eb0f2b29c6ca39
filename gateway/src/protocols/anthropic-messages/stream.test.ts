import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds, Failure } from "#core/index.ts";
import { pushCut } from "../../../test/cut-stream.ts";
import { MessagesStreamTap } from "./stream.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const event = (data: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const start = (usage: object | null): string =>
  event({
    type: "message_start",
    message: { id: "msg_1", type: "message", content: [], ...(usage === null ? {} : { usage }) },
  });
const delta = (inner: object, index = 0): string => event({ type: "content_block_delta", index, delta: inner });
const text = (value: string): string => delta({ type: "text_delta", text: value });
const finish = (usage: object | null): string =>
  event({
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    ...(usage === null ? {} : { usage }),
  });
const stop = event({ type: "message_stop" });
const ping = event({ type: "ping" });

const started = { input_tokens: 25, cache_read_input_tokens: 7, cache_creation_input_tokens: 0, output_tokens: 1 };
const whole = [
  start(started),
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  ping,
  ": a comment\n\n",
  text("Grüße "),
  text('he said "message_stop" and "usage":{"output_tokens":9}'),
  text("\u{1F600}"),
  event({ type: "content_block_stop", index: 0 }),
  event({
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: "toolu_1", name: "look", input: {} },
  }),
  delta({ type: "input_json_delta", partial_json: "" }, 1),
  delta({ type: "input_json_delta", partial_json: '{"city":"Paris"}' }, 1),
  event({ type: "content_block_stop", index: 1 }),
  finish({ output_tokens: 15, input_tokens: null }),
  stop,
].join("");

function listen(
  sent: string,
  cuts: readonly number[] = [],
): { tap: MessagesStreamTap; out: string; complete: boolean } {
  const tap = new MessagesStreamTap();
  const out = pushCut(tap, sent, cuts);
  const complete = tap.complete();
  return { tap, out: out + decoder.decode(tap.rest()), complete };
}

const facts = ({ tap, complete }: ReturnType<typeof listen>): unknown => [
  tap.events,
  tap.ended,
  tap.usage,
  tap.usageFinal,
  tap.failure?.message,
  tap.outputEstimate,
  tap.contentSeen,
  tap.id,
  complete,
];

describe("a message stream", () => {
  test("passes every byte unchanged and reads usage and id", () => {
    const { tap, out } = listen(whole);
    expect(out).toBe(whole);
    expect(tap.usage?.usage).toMatchObject({ inputUncached: 25, cacheRead: 7, output: 15 });
    expect(tap).toMatchObject({ ended: true, usageFinal: true, contentSeen: true, id: "msg_1", failure: null });
  });

  test("passes the same bytes and reads the same facts for any chunking", () => {
    for (const sent of [whole, whole.replaceAll("\n", "\r\n"), whole.slice(0, -1), whole.slice(0, -2)]) {
      const plain = listen(sent);
      fc.assert(
        fc.property(fc.array(fc.nat({ max: 5_000 }), { maxLength: 40 }), (cuts) => {
          const cut = listen(sent, cuts);
          expect(cut.out).toBe(plain.out);
          expect(facts(cut)).toEqual(facts(plain));
        }),
        { numRuns: 400 },
      );
    }
  });

  test("accepts comments and a byte order mark before an event's fields", () => {
    for (const commented of [whole.replaceAll("event: ", ": kept alive\r\nevent: "), `\uFEFF${whole}`]) {
      const result = listen(commented);
      expect(result.out).toBe(commented);
      expect(facts(result)).toEqual(facts(listen(whole)));
    }
  });

  test("does not count pings and comments as events", () => {
    expect(listen(ping + ping + start(started) + ping + stop).tap.events).toBe(2);
    expect(listen(`data: {"type": "ping"}\n\n${stop}`).tap.events).toBe(1);
  });

  test("accepts events without names and members in another order", () => {
    const bare = [
      { message: { usage: started, id: "msg_2", type: "message" }, type: "message_start" },
      { delta: { text: "Hello", type: "text_delta" }, index: 0, type: "content_block_delta" },
      { usage: { output_tokens: 4 }, delta: { stop_reason: "end_turn" }, type: "message_delta" },
      { type: "message_stop" },
    ];
    const { tap, complete } = listen(
      bare.map((data) => `data: ${JSON.stringify(data, null, 1).replaceAll("\n", "")}\n\n`).join(""),
    );
    expect(complete).toBe(true);
    expect(tap).toMatchObject({ id: "msg_2", contentSeen: true, outputEstimate: 1, usageFinal: true });
    expect(tap.usage?.usage.output).toBe(4);
  });
});

describe("usage in a stream", () => {
  const usageOf = (...events: string[]) => listen(events.join("")).tap;

  test.each([
    ["later numbers replace earlier ones and are never added", started, { output_tokens: 15 }, [25, 7, 15]],
    [
      "numbers at the end replace zeros from the start",
      { input_tokens: 0, output_tokens: 0 },
      { input_tokens: 40, cache_read_input_tokens: 3, output_tokens: 9 },
      [40, 3, 9],
    ],
    [
      "null does not replace a number",
      started,
      { input_tokens: null, cache_read_input_tokens: null, output_tokens: 2 },
      [25, 7, 2],
    ],
    ["an explicit zero at the end is a value", started, { cache_read_input_tokens: 0, output_tokens: 2 }, [25, 0, 2]],
    ["a start without usage waits for the end", null, { input_tokens: 5, output_tokens: 2 }, [5, 0, 2]],
  ])("%s", (_, first, last, [inputUncached, cacheRead, output]) => {
    const { usage } = usageOf(start(first), text("x"), finish(last), stop);
    expect(usage?.usage).toMatchObject({ inputUncached, cacheRead, output });
  });

  test("keeps the cache split of the start if the end has only the total", () => {
    const split = { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 };
    const { usage } = usageOf(
      start({ input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 30, cache_creation: split }),
      finish({ output_tokens: 3, cache_creation_input_tokens: 30 }),
    );
    expect(usage?.usage).toMatchObject({ cacheWrite5m: 10, cacheWrite1h: 20 });
  });

  test("is final only after the last event with usage", () => {
    expect(usageOf(start(started), text("x"))).toMatchObject({ usageFinal: false });
    expect(usageOf(start(started), finish(null), stop)).toMatchObject({ usageFinal: false });
    expect(usageOf(start(started), finish({ output_tokens: 1 }))).toMatchObject({ usageFinal: true });
  });

  test("estimates output from text, arguments and thinking only", () => {
    const { tap } = listen(
      [
        text("one"),
        delta({ type: "input_json_delta", partial_json: '{"a' }),
        delta({ type: "thinking_delta", thinking: "x".repeat(40) }),
        delta({ type: "signature_delta", signature: "s".repeat(400) }),
        delta({ type: "input_json_delta", partial_json: "" }),
      ].join(""),
    );
    expect(tap.outputEstimate).toBe(1 + 1 + 10);
    expect(listen(delta({ type: "signature_delta", signature: "abc" })).tap.contentSeen).toBe(true);
  });

  test("counts text with quotes and trailing backslashes exactly", () => {
    for (const value of ["\\", "C:\\", '"', '\\"', "a\\\\"]) {
      const { tap } = listen(text(value));
      expect([value, tap.outputEstimate, tap.contentSeen]).toEqual([value, 1, true]);
    }
    const quoted = `say "${"x".repeat(388)}"`;
    expect(listen(text(quoted)).tap.outputEstimate).toBe(99);
  });
});

describe("a broken message stream", () => {
  test.each([
    ["before anything", ""],
    ["in the middle", start(started) + text("x")],
    ["after the stop reason", start(started) + finish({ output_tokens: 1 })],
    ["inside a text that names the last event", `${start(started)}${text('{"type":"message_stop"}').slice(0, -6)}`],
  ])("is incomplete if it ends %s", (_, sent) => {
    expect(listen(sent === "" ? ping : sent).complete).toBe(false);
  });

  test("completes the stream if only the last blank line is missing", () => {
    const { complete, out } = listen((start(started) + stop).slice(0, -2));
    expect(complete).toBe(true);
    expect(out).toBe(start(started) + stop);
  });

  test("reports an error event and passes it on", () => {
    const error = event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
    const { tap, out, complete } = listen(start(started) + text("x") + error);
    expect(out.endsWith(error)).toBe(true);
    expect(complete).toBe(false);
    expect(tap.failure).toMatchObject({ code: "upstream_error", unhealthy: true });
    expect(tap.failure?.message).toContain("Overloaded");
  });

  test("does not mark the upstream unhealthy for an error caused by the request", () => {
    const error = event({ type: "error", error: { type: "invalid_request_error", message: "too long" } });
    expect(listen(error).tap.failure?.unhealthy).toBe(false);
  });

  test("fails on a first event that is not JSON, so that another deployment is tried", () => {
    expect(() => listen("event: message_start\ndata: {broken\n\n")).toThrow(Failure);
    expect(() => listen("data: <html>\n\n")).toThrow(Failure);
  });

  test("fails on an event beyond the bound", () => {
    const tap = new MessagesStreamTap();
    const piece = encoder.encode("x".repeat(600_000));
    expect(() => {
      for (let sent = 0; sent <= bounds.imageEventBytesMax; sent += piece.length) tap.push(piece);
    }).toThrow("more than");
  });
});
