import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AnswerEvent, Failure } from "#core/index.ts";
import { eventData, SseEvents } from "../stream/sse-events.ts";
import { openaiResponsesCodec } from "./index.ts";

const source = { account: "acc", newId: (prefix: string) => `${prefix}new`, warn: () => {} };
const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 13 };
const created = {
  type: "response.created",
  response: { id: "resp_1", model: "gpt", status: "in_progress", output: [] },
};
const completed = {
  type: "response.completed",
  response: { id: "resp_1", model: "gpt", status: "completed", output: [], usage },
};
const added = (output_index: number, item: object): object => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: object): object => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const delta = (type: string, output_index: number, text: string, more: object = {}): object => ({
  type: `response.${type}.delta`,
  output_index,
  item_id: `i${output_index}`,
  delta: text,
  ...more,
});
const message = (text: string): object => ({
  type: "message",
  id: "i0",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const fc1 = { type: "function_call", id: "fc_1", call_id: "c1", name: "f", arguments: "" };
const fc2 = { ...fc1, id: "fc_2", call_id: "c2", name: "g" };

function read(events: readonly object[], ends = true): AnswerEvent[] {
  const out: AnswerEvent[] = [];
  const reader = openaiResponsesCodec.readEvents((event) => out.push(event), source);
  for (const event of events) reader.read(JSON.stringify(event));
  if (ends) reader.end();
  return out;
}

/** Kinds and texts in short. */
const gist = (events: readonly AnswerEvent[]): string[] =>
  events.map((event) => {
    if (event.kind === "block-start") return `+${event.block.kind}`;
    if (event.kind === "block-delta") return event.text;
    if (event.kind === "finish") return event.finish.reason;
    return event.kind === "block-end" ? "-" : event.kind;
  });

describe("reading a Responses stream", () => {
  test("emits text, sealed reasoning and calls as blocks, then usage and finish", () => {
    const events = read([
      created,
      added(0, { type: "reasoning", id: "rs_1", summary: [] }),
      delta("reasoning_summary_text", 0, "first", { summary_index: 0 }),
      delta("reasoning_summary_text", 0, "second", { summary_index: 1 }),
      done(0, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" }),
      added(1, { type: "web_search_call", id: "ws_1" }),
      done(1, { type: "web_search_call", id: "ws_1" }),
      added(2, message("")),
      {
        type: "response.content_part.added",
        output_index: 2,
        content_index: 0,
        part: { type: "output_text", text: "" },
      },
      delta("output_text", 2, "hi", { content_index: 0 }),
      { type: "response.output_text.done", output_index: 2, content_index: 0, text: "hi" },
      {
        type: "response.content_part.done",
        output_index: 2,
        content_index: 0,
        part: { type: "output_text", text: "hi" },
      },
      done(2, message("hi")),
      added(3, fc1),
      delta("function_call_arguments", 3, '{"a":'),
      delta("function_call_arguments", 3, "1}"),
      done(3, { ...fc1, arguments: '{"a":1}' }),
      completed,
    ]);
    expect(gist(events)).toEqual([
      ...["start", "+reasoning", "first", "\n\n", "second", "block-seal", "-", "+text", "hi", "-"],
      ...["+tool-call", '{"a":', "1}", "-", "usage", "tool-calls", "end"],
    ]);
    expect(events[0]).toEqual({ kind: "start", id: "resp_1", model: "gpt" });
    expect(events.find((event) => event.kind === "block-seal")).toEqual({
      kind: "block-seal",
      seal: { dialect: "openai-responses", account: "acc", data: "gAAA", itemId: "rs_1" },
    });
  });

  test("puts interleaved items in order", () => {
    const events = read([
      created,
      added(0, fc1),
      added(1, fc2),
      delta("function_call_arguments", 1, "{}"),
      delta("function_call_arguments", 0, '{"a":1}'),
      done(1, { ...fc2, arguments: "{}" }),
      done(0, { ...fc1, arguments: '{"a":1}' }),
      completed,
    ]);
    expect(gist(events)).toEqual([
      ...["start", "+tool-call", '{"a":1}', "-", "+tool-call", "{}", "-", "usage", "tool-calls", "end"],
    ]);
  });

  test("completes deltas from the final items", () => {
    const part = { type: "response.output_text.done", output_index: 0, content_index: 0, text: "hello" };
    expect(
      gist(
        read([created, added(0, message("")), delta("output_text", 0, "he", { content_index: 0 }), part, completed]),
      ),
    ).toContain("llo");
    expect(gist(read([created, done(0, message("all at once")), completed]))).toContain("all at once");
    const late = { ...completed, response: { ...completed.response, output: [message("only here")] } };
    expect(gist(read([created, late]))).toEqual(["start", "+text", "only here", "-", "usage", "stop", "end"]);
  });

  test("accepts text without an item or part", () => {
    expect(gist(read([delta("output_text", 0, "x"), completed]))).toEqual([
      "start",
      "+text",
      "x",
      "-",
      "usage",
      "stop",
      "end",
    ]);
  });

  test("reads a refusal, and why a response is incomplete", () => {
    const refusal = { type: "message", id: "i0", content: [{ type: "refusal", refusal: "no" }] };
    expect(gist(read([created, added(0, refusal), done(0, refusal), completed]))).toContain("refusal");
    const incomplete = (reason: string): object => ({
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason }, usage },
    });
    expect(gist(read([created, incomplete("max_output_tokens")]))).toContain("length");
    expect(gist(read([created, incomplete("content_filter")]))).toContain("content-filter");
  });

  test("turns a custom tool's text into arguments", () => {
    const item = { type: "custom_tool_call", id: "ctc_1", call_id: "c", name: "p", input: "" };
    const events = read([
      created,
      added(0, item),
      delta("custom_tool_call_input", 0, "a"),
      done(0, { ...item, input: "ab" }),
      completed,
    ]);
    expect(gist(events)).toContain('{"input":"ab"}');
  });

  test.each([
    [{ type: "response.failed", response: { status: "failed", error: { code: "server_error", message: "broke" } } }],
    [{ type: "error", code: "server_error", message: "broke", param: null }],
    [{ type: "error", error: { type: "server_error", message: "broke" } }],
    [{ error: { message: "broke" } }],
  ])("reads %j as an error and emits nothing after it", (event) => {
    const events = read([created, event, completed]);
    expect(gist(events)).toEqual(["start", "error"]);
    expect(events[1]).toMatchObject({ failure: { code: "upstream_error" } });
  });

  test("rejects invalid events and skips unknown ones and [DONE]", () => {
    const reader = openaiResponsesCodec.readEvents(() => {}, source);
    reader.read("[DONE]");
    reader.read('{"type":"response.something_new","output_index":7}');
    expect(() => reader.read("<html>")).toThrow(Failure);
    expect(() => read([created])).toThrow(Failure);
  });

  test("emits the same for any chunking", () => {
    const list = [
      created,
      added(0, message("")),
      delta("output_text", 0, 'Grü"ße'),
      done(0, message('Grü"ße')),
      completed,
    ];
    const bytes = new TextEncoder().encode(
      list.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join(""),
    );
    const plain = read(list);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 20 }), (cuts) => {
        const out: AnswerEvent[] = [];
        const reader = openaiResponsesCodec.readEvents((event) => out.push(event), source);
        const sse = new SseEvents();
        let from = 0;
        for (const to of [...cuts.sort((one, other) => one - other), bytes.length]) {
          sse.push(bytes.slice(from, to), (held, start, end) => reader.read(eventData(held, start, end)));
          from = to;
        }
        reader.end();
        expect(out).toEqual(plain);
      }),
      { numRuns: 100 },
    );
  });
});

describe("reading a whole response", () => {
  const encode = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  const whole = { id: "resp_1", object: "response", model: "gpt", status: "completed", output: [message("hi")], usage };

  test("reads blocks, finish and usage", () => {
    expect(openaiResponsesCodec.readAnswer(encode(whole), source)).toMatchObject({
      id: "resp_1",
      model: "gpt",
      blocks: [{ kind: "text", text: "hi" }],
      finish: { reason: "stop" },
      usage: { inputUncached: 9, output: 4 },
    });
  });

  test("throws for a failed, running or foreign response, so that another deployment is tried", () => {
    const error = { code: "server_error", message: "broke" };
    for (const reply of [
      { ...whole, status: "failed", error },
      { ...whole, status: "queued" },
      { error },
      { object: "list" },
    ]) {
      expect(() => openaiResponsesCodec.readAnswer(encode(reply), source)).toThrow(Failure);
    }
  });
});

test("does not warn of keep-alives", () => {
  const warnings: string[] = [];
  const reader = openaiResponsesCodec.readEvents(() => undefined, { ...source, warn: (what) => warnings.push(what) });
  for (const event of [created, { type: "keepalive" }, completed]) reader.read(JSON.stringify(event));
  expect(warnings).toEqual([]);
});
