import { expect, test } from "bun:test";
import { chatBody, messagesOf } from "./conversation.ts";
import { chatOfCall } from "./imported-chat.ts";
import { readTools } from "./tools.ts";

const parameters = { type: "object", properties: { city: { type: "string" } } };
const tool = { type: "function", function: { name: "weather", description: "The weather.", parameters } };
const call = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } };

const messages = [
  { role: "system", content: "Be short." },
  { role: "user", content: "How is Paris?" },
  { role: "assistant", content: null, tool_calls: [call] },
  { role: "tool", tool_call_id: "call_1", content: "Sunny" },
  { role: "assistant", content: "It is sunny." },
  { role: "user", content: "And Rome?" },
];

/** The request that the playground would send for it. */
function sent(endpoint: string, body: object) {
  const chat = chatOfCall(endpoint, body, "gpt-test");
  if (chat === null) throw new Error("It is a chat.");
  const { turns, draft, settings } = chat;
  const read = readTools(settings.tools);
  const tools = read.problem === null ? read.tools : [];
  const more = settings.more === "" ? {} : JSON.parse(settings.more);
  const messages = messagesOf(settings.system, turns, { kind: "message", ...draft });
  const { stream: _, stream_options: __, ...rest } = chatBody("gpt-test", messages, settings, { tools, more });
  return rest;
}

const expected = {
  model: "gpt-test",
  messages,
  temperature: 0.2,
  max_completion_tokens: 100,
  stop: ["END"],
  tools: [tool],
  top_p: 0.9,
};

test("a chat completion is restored unchanged, with its additional parameters", () => {
  const body = { ...expected, stream: true, seed: 7, response_format: { type: "json_object" } };
  expect(sent("chat", body)).toEqual({ ...expected, seed: 7, response_format: { type: "json_object" } });
});

test("messages become the same conversation", () => {
  const body = {
    system: [{ type: "text", text: "Be short." }],
    messages: [
      { role: "user", content: "How is Paris?" },
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "weather", input: { city: "Paris" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "Sunny" }] },
      { role: "assistant", content: [{ type: "text", text: "It is sunny." }] },
      { role: "user", content: [{ type: "text", text: "And Rome?" }] },
    ],
    temperature: 0.2,
    max_tokens: 100,
    stop_sequences: ["END"],
    top_p: 0.9,
    tools: [{ name: "weather", description: "The weather.", input_schema: parameters }, { type: "web_search" }],
  };
  expect(sent("messages", body)).toEqual(expected);
});

test("restores the same conversation from the Responses API, which has no stop sequences", () => {
  const body = {
    instructions: "Be short.",
    input: [
      { role: "user", content: [{ type: "input_text", text: "How is Paris?" }] },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Paris"}' },
      { type: "function_call_output", call_id: "call_1", output: "Sunny" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "It is sunny." }] },
      { role: "user", content: "And Rome?" },
    ],
    temperature: 0.2,
    max_output_tokens: 100,
    top_p: 0.9,
    tools: [{ type: "function", name: "weather", description: "The weather.", parameters }],
  };
  const { stop: _, ...rest } = expected;
  expect(sent("responses", body)).toEqual(rest);
  expect(chatOfCall("responses", { input: "Hi" }, "m")?.draft.text).toBe("Hi");
});

test("Gemini contents are restored, with calls matched by name", () => {
  const body = {
    systemInstruction: { parts: [{ text: "Be short." }] },
    contents: [
      { role: "user", parts: [{ text: "How is Paris?" }] },
      { role: "model", parts: [{ functionCall: { name: "weather", args: { city: "Paris" } } }] },
      { role: "user", parts: [{ functionResponse: { name: "weather", response: { sky: "clear" } } }] },
      { role: "model", parts: [{ text: "Hm.", thought: true }, { text: "It is sunny." }] },
      { role: "user", parts: [{ text: "And Rome?" }] },
    ],
    generationConfig: { temperature: 0.2, maxOutputTokens: 100, stopSequences: ["END"], topP: 0.9 },
    tools: [{ functionDeclarations: [{ name: "weather", description: "The weather.", parameters }] }],
  };
  const [system, user, , , ...rest] = messages;
  const called = { role: "assistant", content: null, tool_calls: [{ ...call, id: "weather" }] };
  const result = { role: "tool", tool_call_id: "weather", content: '{"sky":"clear"}' };
  expect(sent("generate", body)).toEqual({ ...expected, messages: [system, user, called, result, ...rest] });
});

test("an interaction becomes the same conversation", () => {
  const body = {
    system_instruction: "Be short.",
    input: [
      { type: "user_input", content: "How is Paris?" },
      { type: "function_call", id: "call_1", name: "weather", arguments: { city: "Paris" } },
      { type: "function_result", call_id: "call_1", result: [{ type: "text", text: "Sunny" }] },
      { type: "model_output", content: [{ type: "text", text: "It is sunny." }] },
      { type: "user_input", content: [{ type: "text", text: "And Rome?" }] },
    ],
    generation_config: { temperature: 0.2, max_output_tokens: 100, stop_sequences: ["END"], top_p: 0.9 },
    tools: [{ type: "function", name: "weather", description: "The weather.", parameters }, { type: "google_search" }],
  };
  expect(sent("interactions", body)).toEqual(expected);
});

test("images are restored from every API", () => {
  const url = "data:image/png;base64,AAAA";
  const contents = [
    ["chat", { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] }],
    ["responses", { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }],
    ["interactions", { input: { type: "image", data: "AAAA", mime_type: "image/png" } }],
    ["generate", { contents: [{ parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] }] }],
    [
      "messages",
      { messages: [{ role: "user", content: [{ type: "image", source: { media_type: "image/png", data: "AAAA" } }] }] },
    ],
  ] as const;
  for (const [endpoint, body] of contents) expect(chatOfCall(endpoint, body, "m")?.draft.pictures).toEqual([url]);
});

test("other endpoints and malformed bodies restore nothing", () => {
  expect(chatOfCall("embeddings", { input: "Hi" }, "m")).toBeNull();
  expect(chatOfCall("toString", {}, "m")).toBeNull();
  expect(chatOfCall("chat", "Hi", "m")).toBeNull();
  expect(chatOfCall("chat", { messages: "Hi", tools: 7, stop: [1] }, "m")?.turns).toEqual([]);
});
