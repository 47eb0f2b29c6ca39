import { expect, test } from "bun:test";
import { assembledAnswer } from "./assembled-answer.ts";

const sse = (events: readonly object[], end = "") =>
  events
    .map((event) => `${"type" in event ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`)
    .join("") + end;
const done = "data: [DONE]\n\n";

test("chat completions: text, thinking and the pieces of a tool call", () => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({ choices: [{ delta, finish_reason }] });
  const call = (more: object) => chunk({ tool_calls: [{ index: 0, ...more }] });
  const text = sse(
    [
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "Hm." }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo" }),
      call({ id: "call_1", function: { name: "look", arguments: "" } }),
      call({ function: { arguments: '{"a":' } }),
      call({ function: { arguments: "1}" } }),
      chunk({}, "tool_calls"),
      { choices: [], usage: { prompt_tokens: 1 } },
    ],
    done,
  );
  expect(assembledAnswer(text)).toEqual({
    text: "Hello",
    thinking: "Hm.",
    toolCalls: [{ index: 0, id: "call_1", name: "look", arguments: '{"a":1}' }],
    finish: "tool_calls",
    error: null,
    whole: true,
  });
});

test("older completions", () => {
  const answer = assembledAnswer(sse([{ choices: [{ text: "def " }] }, { choices: [{ text: "fib" }] }], done));
  expect([answer?.text, answer?.whole]).toEqual(["def fib", true]);
});

test("messages: blocks of thinking, of text and of a tool", () => {
  const delta = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
  const text = sse([
    { type: "message_start", message: { content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
    delta(0, { type: "thinking_delta", thinking: "Let me see." }),
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "ping" },
    delta(1, { type: "text_delta", text: "Good " }),
    delta(1, { type: "text_delta", text: "day" }),
    {
      type: "content_block_start",
      index: 2,
      content_block: { type: "tool_use", id: "toolu_1", name: "look", input: {} },
    },
    delta(2, { type: "input_json_delta", partial_json: '{"a"' }),
    delta(2, { type: "input_json_delta", partial_json: ":1}" }),
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  ]);
  expect(assembledAnswer(text)).toEqual({
    text: "Good day",
    thinking: "Let me see.",
    toolCalls: [{ index: 2, id: "toolu_1", name: "look", arguments: '{"a":1}' }],
    finish: "tool_use",
    error: null,
    whole: true,
  });
});

test("responses: text, a summary of the reasoning and a function call", () => {
  const text = sse([
    { type: "response.created", response: { status: "in_progress" } },
    { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "Thinking" },
    { type: "response.output_text.delta", output_index: 1, delta: "Hi" },
    {
      type: "response.output_item.added",
      output_index: 2,
      item: { type: "function_call", call_id: "call_9", name: "look", arguments: "" },
    },
    { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"b":2}' },
    { type: "response.completed", response: { status: "completed" } },
  ]);
  expect(assembledAnswer(text)).toEqual({
    text: "Hi",
    thinking: "Thinking",
    toolCalls: [{ index: 2, id: "call_9", name: "look", arguments: '{"b":2}' }],
    finish: "completed",
    error: null,
    whole: true,
  });
});

test("Gemini: server-sent chunks and a list of them are the same answer", () => {
  const chunk = (parts: readonly object[], more: object = {}) => ({ candidates: [{ content: { parts }, ...more }] });
  const chunks = [
    chunk([{ text: "Thought", thought: true }]),
    chunk([{ text: "Hi " }]),
    chunk([{ text: "there" }, { functionCall: { name: "look", args: { c: 3 } } }], { finishReason: "STOP" }),
  ];
  const expected = {
    text: "Hi there",
    thinking: "Thought",
    toolCalls: [{ index: 0, id: "", name: "look", arguments: '{"c":3}' }],
    finish: "STOP",
    error: null,
    whole: true,
  };
  expect(assembledAnswer(sse(chunks))).toEqual(expected);
  expect(assembledAnswer(JSON.stringify(chunks))).toEqual(expected);
});

test("a cut stream is marked and keeps its content; a failed one shows the error", () => {
  const begun = sse([{ choices: [{ delta: { content: "Hel" } }] }]);
  expect(assembledAnswer(`${begun}data: {"choices":[{"del`)).toMatchObject({ text: "Hel", whole: false });
  expect(assembledAnswer(begun + sse([{ error: { message: "It broke.", code: "upstream_truncated" } }]))).toMatchObject(
    {
      text: "Hel",
      error: "It broke.",
      whole: true,
    },
  );
  expect(assembledAnswer(begun.replaceAll("\n", "\r\n") + done)).toMatchObject({ text: "Hel", whole: true });
});

test("a body that is not a text stream is left unchanged", () => {
  for (const text of ["", "Hello: there", '{"choices":[]}', "[1,2]", sse([{ type: "image.partial", b64: "x" }])]) {
    expect(assembledAnswer(text), text).toBeNull();
  }
});
