import { expect, test } from "bun:test";
import { bounds, type EndpointId } from "#core/index.ts";
import { readContent } from "./read-content.ts";

const body = (text: string, truncated = false) => ({ text, bytes: text.length, truncated });
const json = (value: unknown) => body(JSON.stringify(value));
const stream = (...events: readonly unknown[]) =>
  body(`${events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`);

type Body = ReturnType<typeof body> | null;

function readMessages(endpoint: EndpointId, request: Body, response: Body = null, secrets: readonly string[] = []) {
  const read = readContent({ endpoint, request, response, secrets });
  const parsed = (text: string | null | undefined) => (text == null ? null : JSON.parse(text));
  return {
    ...{ system: parsed(read?.system), input: parsed(read?.input), output: parsed(read?.output) },
    truncated: read?.truncated,
  };
}

const text = (content: string) => ({ type: "text", content });

test("chat completions: texts, media by kind, tool calls and their results", () => {
  const request = json({
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          { type: "file", file: { file_id: "file_1" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "find", arguments: '{"q":"cat"}' } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "a cat" },
    ],
  });
  const response = json({
    choices: [{ index: 0, message: { role: "assistant", content: "A cat." }, finish_reason: "stop" }],
  });
  expect(readMessages("chat", request, response)).toEqual({
    system: null,
    input: [
      { role: "system", parts: [text("Be brief.")] },
      {
        role: "user",
        parts: [
          text("What is this?"),
          { type: "blob", modality: "image", mime_type: "image/png", content: "" },
          { type: "uri", modality: "image", uri: "https://example.com/a.png" },
          { type: "file", modality: "document", file_id: "file_1" },
        ],
      },
      { role: "assistant", parts: [{ type: "tool_call", id: "call_1", name: "find", arguments: { q: "cat" } }] },
      { role: "tool", parts: [{ type: "tool_call_response", id: "call_1", response: "a cat" }] },
    ],
    output: [{ role: "assistant", parts: [text("A cat.")], finish_reason: "stop" }],
    truncated: false,
  });
});

test("joins a streamed chat completion, and marks one that was cut off", () => {
  const piece = (delta: unknown, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const call = (more: object) => piece({ tool_calls: [{ index: 0, ...more }] });
  const events = [
    piece({ role: "assistant", reasoning_content: "Hm" }),
    piece({ content: "Let me " }),
    piece({ content: "look." }),
    call({ id: "call_1", function: { name: "find", arguments: '{"q"' } }),
    call({ function: { arguments: ':"cat"}' } }),
  ];
  const parts = [
    { type: "reasoning", content: "Hm" },
    text("Let me look."),
    { type: "tool_call", id: "call_1", name: "find", arguments: { q: "cat" } },
  ];
  expect(readMessages("chat", null, stream(...events, piece({}, "tool_calls"))).output).toEqual([
    { role: "assistant", parts, finish_reason: "tool_call" },
  ]);
  expect(readMessages("chat", null, stream(...events)).output).toEqual([
    { role: "assistant", parts, finish_reason: "error" },
  ]);
});

test("Anthropic messages: separate instructions, all kinds of blocks, whole and streamed", () => {
  const request = json({
    system: [{ type: "text", text: "Be brief." }],
    messages: [
      { role: "user", content: "Hello" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm", signature: "abc" },
          { type: "tool_use", id: "toolu_1", name: "find", input: { q: "cat" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "a cat" }] },
          { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AAAA" } },
        ],
      },
    ],
  });
  const { system, input } = readMessages("messages", request);
  expect(system).toEqual([text("Be brief.")]);
  expect(input).toEqual([
    { role: "user", parts: [text("Hello")] },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", content: "Hm" },
        { type: "tool_call", id: "toolu_1", name: "find", arguments: { q: "cat" } },
      ],
    },
    {
      role: "user",
      parts: [
        { type: "tool_call_response", id: "toolu_1", response: [text("a cat")] },
        { type: "blob", modality: "image", mime_type: "image/jpeg", content: "" },
      ],
    },
  ]);
  const parts = [text("Hi there"), { type: "tool_call", id: "toolu_2", name: "find", arguments: { q: 1 } }];
  const output = [{ role: "assistant", parts, finish_reason: "tool_call" }];
  const content = [
    { type: "text", text: "Hi there" },
    { type: "tool_use", id: "toolu_2", name: "find", input: { q: 1 } },
  ];
  expect(readMessages("messages", null, json({ type: "message", content, stop_reason: "tool_use" })).output).toEqual(
    output,
  );
  const events = [
    { type: "message_start", message: { content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi " } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "there" } },
    {
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "toolu_2", name: "find", input: {} },
    },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"q":1}' } },
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
  ];
  expect(readMessages("messages", null, stream(...events)).output).toEqual(output);
});

test("responses: input items, and the output from the final event or from earlier ones", () => {
  const request = json({
    instructions: "Be brief.",
    input: [
      { role: "user", content: [{ type: "input_text", text: "Hello" }] },
      { type: "function_call", call_id: "call_1", name: "find", arguments: '{"q":1}' },
      { type: "function_call_output", call_id: "call_1", output: "a cat" },
    ],
  });
  const { system, input } = readMessages("responses", request);
  expect(system).toEqual([text("Be brief.")]);
  expect(input).toEqual([
    { role: "user", parts: [text("Hello")] },
    { role: "assistant", parts: [{ type: "tool_call", id: "call_1", name: "find", arguments: { q: 1 } }] },
    { role: "tool", parts: [{ type: "tool_call_response", id: "call_1", response: "a cat" }] },
  ]);
  const item = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi there" }] };
  const whole = { object: "response", status: "completed", output: [item] };
  const output = [{ role: "assistant", parts: [text("Hi there")], finish_reason: "stop" }];
  expect(readMessages("responses", json({ input: "Hello" }), json(whole))).toMatchObject({
    input: [{ role: "user", parts: [text("Hello")] }],
    output,
  });
  const events = [
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    { type: "response.output_text.delta", output_index: 0, delta: "Hi " },
    { type: "response.output_text.delta", output_index: 0, delta: "there" },
  ];
  const end = { type: "response.completed", response: whole };
  expect(readMessages("responses", null, stream(...events, end)).output).toEqual(output);
  expect(readMessages("responses", null, stream(...events)).output).toMatchObject([
    { parts: [text("Hi there")], finish_reason: "error" },
  ]);
});

test("reads a cut body as far as it goes, and marks it as cut", () => {
  const whole = JSON.stringify({
    model: "m",
    messages: [
      { role: "user", content: 'a "quoted" \\ text é\n' },
      { role: "user", content: [{ type: "text", text: "two" }] },
    ],
  });
  for (let length = 1; length < whole.length; length++) {
    const { input, truncated } = readMessages("chat", body(whole.slice(0, length), true));
    expect(truncated).toBe(true);
    if (length > 50) expect(input?.[0]).toMatchObject({ role: "user" });
  }
  expect(readMessages("chat", body(whole.slice(0, 70), true)).input[0].parts[0].content).toStartWith('a "quoted" \\');
  const events = stream({ choices: [{ index: 0, delta: { content: "Hello" } }] });
  const cut = { ...events, truncated: true, text: `${events.text.split("data: [DONE]")[0]}data: {"choi` };
  // The end of the stream is missing.
  expect(readMessages("chat", null, cut).output).toEqual([{ role: "assistant", parts: [text("Hello")] }]);
});

test("masks credentials that are split over stream pieces or escaped", () => {
  const piece = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  const answer = stream(piece("the key is sk-se"), piece("cret0123456789 and can"), piece("ary-of-mine-1234"));
  const { output } = readMessages("chat", null, answer, ["canary-of-mine-1234"]);
  expect(output[0].parts).toEqual([text("the key is sk-[redacted] and [redacted]")]);
  const escaped = body(`{"messages":[{"role":"user","content":"can\\u0061ry-of-mine-1234"}]}`);
  expect(readMessages("chat", escaped, null, ["canary-of-mine-1234"]).input[0].parts).toEqual([text("[redacted]")]);
});

test("skips anything that is not a message", () => {
  const nothing = { system: null, input: null, output: null, truncated: false };
  for (const odd of ["", "null", "[]", "<html>", '{"messages":3,"input":{},"choices":"x","output":[null]}']) {
    for (const endpoint of ["chat", "messages", "responses"] as const) {
      expect(readMessages(endpoint, body(odd), body(odd))).toEqual(nothing);
    }
  }
  expect(
    readContent({ endpoint: "embeddings", request: json({ input: "x" }), response: null, secrets: [] }),
  ).toBeNull();
});

test("limits the messages of a call; those at the end are left out", () => {
  const messages = Array.from({ length: 40 }, (_, at) => ({ role: "user", content: `${at} ${"x".repeat(5_000)}` }));
  const { input, truncated } = readMessages("chat", json({ messages }));
  expect(truncated).toBe(true);
  expect(input.length).toBeGreaterThan(20);
  expect(JSON.stringify(input).length).toBeLessThanOrEqual(bounds.contentCharactersMax + 2);
  expect(input[0].parts[0].content).toStartWith("0 x");
});
