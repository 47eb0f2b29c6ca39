import { expect, test } from "bun:test";
import type { CaptureDetail } from "@sluice/contract";
import { capturedChat } from "./captured-chat.ts";
import { jsonOfStart } from "./json-text.ts";

function capture(request: unknown, response: unknown): CaptureDetail {
  const textOf = (body: unknown) => (body === null || typeof body === "string" ? body : JSON.stringify(body));
  return {
    ...{
      request_headers: [],
      response_headers: [],
      request_bytes: 1,
      response_bytes: 1,
      truncated: false,
      expires_at: 1,
    },
    ...{ request_body: textOf(request), response_body: textOf(response) },
  };
}

const calls = [{ index: 0, id: "call_1", name: "look", arguments: '{"at":"sea"}' }];

test("reads a chat completion: roles, tool calls with their results, and the answer", () => {
  const tool = { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"sea"}' } };
  const request = {
    messages: [
      { role: "system", content: "Be short." },
      {
        role: "user",
        content: [
          { type: "text", text: "Where?" },
          { type: "image_url", image_url: { url: "https://a.example/b.png" } },
          { type: "file", file: { file_id: "file-1" } },
        ],
      },
      { role: "assistant", content: null, tool_calls: [tool] },
      { role: "tool", tool_call_id: "call_1", content: "ships" },
    ],
  };
  const response = {
    choices: [{ message: { role: "assistant", content: "There.", reasoning_content: "Hm." }, finish_reason: "stop" }],
  };
  expect(capturedChat("chat", capture(request, response))).toEqual({
    messages: [
      { by: "system", text: "Be short." },
      { by: "user", text: "Where?", pictures: ["https://a.example/b.png"], files: [{ id: "file-1", name: "file-1" }] },
      { by: "model", text: "", calls },
      { by: "tool", id: "call_1", text: "ships" },
    ],
    cut: false,
    answer: { text: "There.", thinking: "Hm.", toolCalls: [], finish: "stop", error: null, whole: true },
  });
});

test("reads Messages, Responses and Gemini, whole and streamed", () => {
  const call = { type: "tool_use", id: "call_1", name: "look", input: { at: "sea" } };
  const messages = capturedChat(
    "messages",
    capture(
      { system: "Be short.", messages: [{ role: "user", content: "Where?" }] },
      {
        type: "message",
        content: [{ type: "thinking", thinking: "Hm." }, { type: "text", text: "There." }, call],
        stop_reason: "tool_use",
      },
    ),
  );
  expect(messages?.messages.map((message) => [message.by, message.text])).toEqual([
    ["system", "Be short."],
    ["user", "Where?"],
  ]);
  expect(messages?.answer).toMatchObject({ text: "There.", thinking: "Hm.", finish: "tool_use" });
  expect(messages?.answer?.toolCalls).toMatchObject([{ id: "call_1", name: "look", arguments: '{"at":"sea"}' }]);

  const output = [
    { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "There." }] },
    { type: "function_call", call_id: "call_1", name: "look", arguments: '{"at":"sea"}' },
  ];
  const responses = capturedChat("responses", capture({ input: "Where?" }, { output, status: "completed" }));
  expect(responses?.answer).toMatchObject({ text: "There.", thinking: "Hm.", finish: "completed" });
  expect(responses?.answer?.toolCalls).toMatchObject([{ id: "call_1", name: "look" }]);

  const contents = [{ role: "user", parts: [{ text: "Where?" }] }];
  const candidates = [{ content: { role: "model", parts: [{ text: "There." }] }, finishReason: "STOP" }];
  expect(capturedChat("generate", capture({ contents }, { candidates }))?.answer).toMatchObject({
    text: "There.",
    finish: "STOP",
  });

  const stream =
    'data: {"choices":[{"delta":{"content":"The"}}]}\n\ndata: {"choices":[{"delta":{"content":"re."}}]}\n\ndata: [DONE]\n\n';
  const streamed = capturedChat("chat", capture({ messages: [{ role: "user", content: "Where?" }] }, stream));
  expect(streamed?.answer).toMatchObject({ text: "There.", whole: true });
  const failed = capturedChat(
    "chat",
    capture({ messages: [{ role: "user", content: "?" }] }, { error: { message: "No." } }),
  );
  expect(failed?.answer).toMatchObject({ error: "No." });
});

test("reads an interaction, whole and streamed", () => {
  const request = {
    system_instruction: "Be short.",
    input: [
      {
        type: "user_input",
        content: [
          { type: "text", text: "Where?" },
          { type: "document", uri: "files/f1", mime_type: "application/pdf" },
          { type: "image", data: "AA==", mime_type: "image/png" },
        ],
      },
      { type: "function_call", id: "call_1", name: "look", arguments: { at: "sea" } },
      { type: "function_result", call_id: "call_1", result: "ships" },
    ],
  };
  const steps = [
    { type: "thought", summary: [{ type: "text", text: "Hm." }] },
    { type: "model_output", content: [{ type: "text", text: "There." }] },
    { type: "function_call", id: "call_1", name: "look", arguments: { at: "sea" } },
  ];
  const whole = capturedChat("interactions", capture(request, { steps, status: "requires_action" }));
  expect(whole?.messages).toMatchObject([
    { by: "system", text: "Be short." },
    { by: "user", text: "Where?", pictures: ["data:image/png;base64,AA=="], files: [{ id: "files/f1" }] },
    { by: "model", calls: [{ id: "call_1", arguments: '{"at":"sea"}' }] },
    { by: "tool", id: "call_1", text: "ships" },
  ]);
  const answer = {
    ...{ text: "There.", thinking: "Hm.", finish: "requires_action", whole: true },
    toolCalls: [{ id: "call_1", name: "look", arguments: '{"at":"sea"}' }],
  };
  expect(whole?.answer).toMatchObject(answer);
  const events = [
    { event_type: "interaction.created", interaction: { id: "i1", status: "in_progress" } },
    { event_type: "step.start", index: 0, step: { type: "thought" } },
    { event_type: "step.delta", index: 0, delta: { type: "thought_summary", content: { type: "text", text: "Hm." } } },
    { event_type: "step.start", index: 1, step: { type: "model_output", content: [{ type: "text", text: "The" }] } },
    { event_type: "step.delta", index: 1, delta: { type: "text", text: "re." } },
    { event_type: "step.start", index: 2, step: { type: "function_call", id: "call_1", name: "look" } },
    { event_type: "step.delta", index: 2, delta: { type: "arguments_delta", arguments: '{"at":' } },
    { event_type: "step.delta", index: 2, delta: { type: "arguments_delta", arguments: '"sea"}' } },
    { event_type: "step.stop", index: 2 },
    { event_type: "interaction.completed", interaction: { id: "i1", status: "requires_action" } },
  ];
  const stream = events.map((event) => `event: ${event.event_type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const streamed = capturedChat("interactions", capture({ input: "Where?" }, stream));
  expect(streamed?.messages).toMatchObject([{ by: "user", text: "Where?" }]);
  expect(streamed?.answer).toMatchObject(answer);
  const cut = capturedChat("interactions", capture({ input: { type: "text", text: "Where?" } }, stream.slice(0, 600)));
  expect(cut?.messages).toMatchObject([{ by: "user", text: "Where?" }]);
  expect(cut?.answer).toMatchObject({ thinking: "Hm.", whole: false });
});

test("shows the messages before the place where a long body was cut off", () => {
  const whole = JSON.stringify({
    model: "m",
    messages: [
      { role: "user", content: 'first "one"' },
      { role: "user", content: "second\n" },
    ],
  });
  for (let length = 1; length < whole.length; length++) expect(jsonOfStart(whole.slice(0, length))).toBeDefined();
  const cut = capturedChat("chat", capture(whole.slice(0, whole.indexOf("cond")), null));
  expect(cut).toMatchObject({ cut: true, answer: null, messages: [{ text: 'first "one"' }, { text: "se" }] });
  expect(jsonOfStart("data: {}")).toBeUndefined();
});

test("shows other endpoints and bodies as they are", () => {
  expect(capturedChat("embeddings", capture({ input: "x" }, null))).toBeNull();
  expect(capturedChat("chat", capture(null, null))).toBeNull();
  expect(capturedChat("chat", capture("[form]", null))).toBeNull();
});
