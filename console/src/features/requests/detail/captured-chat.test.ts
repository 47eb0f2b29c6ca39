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
