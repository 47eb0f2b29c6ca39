import type { CallEndpointId } from "#protocols/index.ts";

/** Default requests, answers and streams. The test adds one field at a time to them. */
const parameters = { type: "object", properties: { a: { type: "string" } } };
const searchFunction = { name: "search", description: "d", parameters };
export const generating = [
  "chat",
  "responses",
  "messages",
  "generate",
  "interactions",
] as const satisfies readonly CallEndpointId[];
export type Generating = (typeof generating)[number];

export const requests: Readonly<Record<Generating, object>> = {
  chat: {
    model: "m",
    messages: [
      { role: "user", content: "x" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "search", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "y" },
    ],
    tools: [{ type: "function", function: searchFunction }],
  },
  responses: {
    model: "m",
    input: [
      { type: "message", role: "user", content: "x" },
      { type: "function_call", call_id: "call_1", name: "search", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "y" },
    ],
    tools: [{ type: "function", ...searchFunction, strict: false }],
  },
  messages: {
    model: "m",
    max_tokens: 4_096,
    messages: [
      { role: "user", content: "x" },
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "search", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "y" }] },
    ],
    tools: [{ name: "search", input_schema: parameters }],
  },
  generate: {
    contents: [
      { role: "user", parts: [{ text: "x" }] },
      { role: "model", parts: [{ functionCall: { id: "call_1", name: "search", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { id: "call_1", name: "search", response: { a: 1 } } }] },
    ],
    tools: [{ functionDeclarations: [searchFunction] }],
    generationConfig: { responseMimeType: "application/json" },
  },
  interactions: {
    model: "m",
    input: [
      { type: "user_input", content: [{ type: "text", text: "x" }] },
      { type: "function_call", id: "call_1", name: "search", arguments: {} },
      { type: "function_result", call_id: "call_1", name: "search", result: "y" },
    ],
    tools: [{ type: "function", ...searchFunction }],
  },
};

const chatHead = { id: "chatcmpl-1", created: 1, model: "up" };
const chatUsage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
const chatCall = { id: "call_1", type: "function", function: { name: "search", arguments: "{}" } };
const messageUsage = { input_tokens: 7, output_tokens: 5 };
const message = { id: "msg_1", type: "message", role: "assistant", model: "up", stop_sequence: null };
const outputText = { type: "output_text", text: "hello there", annotations: [] };
const outputMessage = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [outputText] };
const outputCall = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name: "search",
  arguments: "{}",
  status: "completed",
};
const response = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "up",
  status: "completed",
  output: [outputMessage, outputCall],
  usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
};

const interaction = { id: "v1_1", object: "interaction", model: "up", created: "2026-11-30T00:00:00Z" };
const interactionUsage = { total_input_tokens: 7, total_output_tokens: 5, total_tokens: 12 };

export const answers: Readonly<Record<Generating, object>> = {
  chat: {
    ...chatHead,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "hello there", refusal: null, tool_calls: [chatCall] },
        finish_reason: "tool_calls",
        logprobs: null,
      },
    ],
    usage: chatUsage,
  },
  responses: response,
  messages: {
    ...message,
    content: [
      { type: "text", text: "hello there" },
      { type: "tool_use", id: "call_1", name: "search", input: {} },
    ],
    stop_reason: "tool_use",
    usage: messageUsage,
  },
  generate: {
    responseId: "r1",
    modelVersion: "up",
    candidates: [
      {
        index: 0,
        content: { role: "model", parts: [{ text: "hello there" }, { functionCall: { name: "search", args: {} } }] },
        finishReason: "STOP",
      },
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
  },
  interactions: {
    ...interaction,
    status: "requires_action",
    steps: [
      { type: "model_output", content: [{ type: "text", text: "hello there" }] },
      { type: "function_call", id: "call_1", name: "search", arguments: {} },
    ],
    usage: interactionUsage,
  },
};

const chunk = (delta: object, finish: string | null = null): object => ({
  ...chatHead,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** `null` marks the position for an event that the stream does not have. */
export const streams: Readonly<Record<Generating, readonly (object | null)[]>> = {
  chat: [
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "hello there" }),
    null,
    chunk({}, "stop"),
    { ...chatHead, object: "chat.completion.chunk", choices: [], usage: chatUsage },
  ],
  responses: [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...outputMessage, content: [] } },
    {
      type: "response.content_part.added",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      part: { ...outputText, text: "" },
    },
    {
      type: "response.output_text.delta",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "hello there",
      logprobs: [],
    },
    null,
    {
      type: "response.output_text.done",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      text: "hello there",
      logprobs: [],
    },
    { type: "response.content_part.done", item_id: "msg_1", output_index: 0, content_index: 0, part: outputText },
    { type: "response.output_item.done", output_index: 0, item: outputMessage },
    { type: "response.output_item.added", output_index: 1, item: { ...outputCall, arguments: "" } },
    { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 1, delta: "{}" },
    {
      type: "response.function_call_arguments.done",
      item_id: "fc_1",
      output_index: 1,
      name: "search",
      arguments: "{}",
    },
    { type: "response.output_item.done", output_index: 1, item: outputCall },
    { type: "response.completed", response },
  ],
  messages: [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, usage: messageUsage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello there" } },
    { type: "content_block_stop", index: 0 },
    null,
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: messageUsage },
    { type: "message_stop" },
  ],
  generate: [
    {
      responseId: "r1",
      modelVersion: "up",
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: "hello" }] } }],
    },
    null,
    {
      responseId: "r1",
      modelVersion: "up",
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: " there" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
    },
  ],
  interactions: [
    { event_type: "interaction.created", interaction: { ...interaction, status: "in_progress" } },
    { event_type: "step.start", index: 0, step: { type: "model_output" } },
    { event_type: "step.delta", index: 0, delta: { type: "text", text: "hello there" } },
    null,
    { event_type: "step.stop", index: 0 },
    {
      event_type: "interaction.completed",
      interaction: { ...interaction, status: "completed", usage: interactionUsage },
    },
  ],
};
