type Body = Readonly<Record<string, unknown>>;
type Requests = Readonly<Record<string, (text: string) => Body>>;

interface Answer {
  readonly whole: (text: string) => Body;
  readonly events: (pieces: readonly string[]) => readonly Body[];
}

interface Dialect {
  readonly path: (isStream: boolean) => string;
  /** Members that every request needs. */
  readonly base: Body;
  readonly requests: Requests;
  readonly answers: Readonly<Record<string, Answer>>;
}

const user = (content: unknown) => ({ role: "user", content });
const longName = (text: string): string => `${"a".repeat(70)}-${text}`;
const base64 = (text: string): string => Buffer.from(`a file with ${text}`).toString("base64");
const json = (text: string): string => JSON.stringify({ path: text });
const inJson = (pieces: readonly string[]): readonly string[] => ['{"path":"', ...pieces, '"}'];

const chatAnswer = (message: (text: string) => object, delta: (piece: string) => object): Answer => ({
  whole: (text) => ({
    choices: [{ index: 0, message: { role: "assistant", ...message(text) }, finish_reason: "stop" }],
  }),
  events: (pieces) => [
    ...pieces.map((piece) => ({ choices: [{ index: 0, delta: delta(piece), finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ],
});

const chatCall = (args: string) => ({
  tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: args } }],
});

const messagesAnswer = (block: (text: string) => object, start: object, delta: (piece: string) => object): Answer => {
  const message = {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  return {
    whole: (text) => ({ ...message, content: [block(text)], stop_reason: "end_turn" }),
    events: (pieces) => [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: start },
      ...pieces.map((piece) => ({ type: "content_block_delta", index: 0, delta: delta(piece) })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ],
  };
};

const responsesAnswer = (kind: string, item: (text: string) => object): Answer => {
  const response = { id: "resp_place", object: "response", status: "completed", model: "m" };
  return {
    whole: (text) => ({ ...response, output: [item(text)] }),
    events: (pieces) => [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      ...pieces.map((delta) => ({
        type: `response.${kind}.delta`,
        output_index: 0,
        item_id: "i",
        content_index: 0,
        delta,
      })),
      { type: "response.output_item.done", output_index: 0, item: item(pieces.join("")) },
      { type: "response.completed", response: { ...response, output: [item(pieces.join(""))] } },
    ],
  };
};

const geminiAnswer = (part: (text: string) => object): Answer => ({
  whole: (text) => ({
    candidates: [{ index: 0, content: { role: "model", parts: [part(text)] }, finishReason: "STOP" }],
  }),
  events: (pieces) => [
    ...pieces.map((piece) => ({ candidates: [{ index: 0, content: { role: "model", parts: [part(piece)] } }] })),
    { candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: "STOP" }] },
  ],
});

/** The places of texts in requests and answers, by dialect. */
export const placeDialects: Readonly<Record<string, Dialect>> = {
  chat: {
    path: () => "/v1/chat/completions",
    base: { model: "openai", messages: [user("hi")] },
    requests: {
      text: (text) => ({ messages: [user(text)] }),
      system: (text) => ({ messages: [{ role: "system", content: text }, user("hi")] }),
      "tool argument": (text) => ({ messages: [user("hi"), { role: "assistant", ...chatCall(json(text)) }] }),
      "tool result": (text) => ({ messages: [user("hi"), { role: "tool", tool_call_id: "c", content: text }] }),
      file: (text) => ({
        messages: [
          user([{ type: "file", file: { filename: "a", file_data: `data:text/plain;base64,${base64(text)}` } }]),
        ],
      }),
      "file name": (text) => ({ messages: [user([{ type: "file", file: { filename: text, file_id: "file-1" } }])] }),
      "long name": (text) => ({ tools: [{ type: "function", function: { name: longName(text) } }] }),
      "tool schema": (text) => ({
        tools: [{ type: "function", function: { name: "f", parameters: { properties: { a: { enum: [text] } } } } }],
      }),
      "answer schema": (text) => ({
        response_format: { type: "json_schema", json_schema: { name: "n", schema: { description: text } } },
      }),
      reasoning: (text) => ({ messages: [user("hi"), { role: "assistant", content: "x", reasoning_content: text }] }),
      prediction: (text) => ({ prediction: { type: "content", content: text } }),
      "stop sequence": (text) => ({ stop: [text] }),
      metadata: (text) => ({ metadata: { note: text } }),
      user: (text) => ({ user: text }),
    },
    answers: {
      text: chatAnswer(
        (content) => ({ content }),
        (content) => ({ content }),
      ),
      refusal: chatAnswer(
        (refusal) => ({ refusal }),
        (refusal) => ({ refusal }),
      ),
      reasoning: chatAnswer(
        (reasoning_content) => ({ reasoning_content }),
        (reasoning_content) => ({ reasoning_content }),
      ),
      "tool argument": {
        whole: chatAnswer((text) => chatCall(json(text)), chatCall).whole,
        events: (pieces) => chatAnswer(chatCall, chatCall).events(inJson(pieces)),
      },
      transcript: chatAnswer(
        (transcript) => ({ audio: { id: "a", transcript } }),
        (transcript) => ({ audio: { id: "a", transcript } }),
      ),
    },
  },
  messages: {
    path: () => "/v1/messages",
    base: { model: "anthropic", max_tokens: 9, messages: [user("hi")] },
    requests: {
      text: (text) => ({ messages: [user([{ type: "text", text }])] }),
      system: (text) => ({ system: [{ type: "text", text }] }),
      "tool argument": (text) => ({
        messages: [
          user("hi"),
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: { a: [text] } }] },
        ],
      }),
      "tool result": (text) => ({
        messages: [user([{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text }] }])],
      }),
      file: (text) => ({
        messages: [
          user([{ type: "document", source: { type: "base64", media_type: "text/plain", data: base64(text) } }]),
        ],
      }),
      "document title": (text) => ({
        messages: [
          user([{ type: "document", title: text, source: { type: "text", media_type: "text/plain", data: "x" } }]),
        ],
      }),
      "long name": (text) => ({ tools: [{ name: longName(text), input_schema: { type: "object" } }] }),
      "tool schema": (text) => ({
        tools: [{ name: "f", input_schema: { type: "object", properties: { a: { description: text } } } }],
      }),
      reasoning: (text) => ({
        messages: [
          user("hi"),
          { role: "assistant", content: [{ type: "thinking", thinking: text, signature: "c2ln" }] },
        ],
      }),
      "stop sequence": (text) => ({ stop_sequences: [text] }),
      metadata: (text) => ({ metadata: { user_id: text } }),
    },
    answers: {
      text: messagesAnswer(
        (text) => ({ type: "text", text }),
        { type: "text", text: "" },
        (text) => ({ type: "text_delta", text }),
      ),
      reasoning: messagesAnswer(
        (thinking) => ({ type: "thinking", thinking, signature: "c2ln" }),
        { type: "thinking", thinking: "", signature: "" },
        (thinking) => ({ type: "thinking_delta", thinking }),
      ),
      "tool argument": {
        ...messagesAnswer(
          (text) => ({ type: "tool_use", id: "t", name: "f", input: { a: text } }),
          {},
          () => ({}),
        ),
        events: (pieces) =>
          messagesAnswer(
            () => ({}),
            { type: "tool_use", id: "t", name: "f", input: {} },
            (partial_json) => ({
              ...{ type: "input_json_delta", partial_json },
            }),
          ).events(inJson(pieces)),
      },
    },
  },
  responses: {
    path: () => "/v1/responses",
    base: { model: "openai", input: "hi" },
    requests: {
      text: (input) => ({ input }),
      system: (instructions) => ({ instructions }),
      "tool argument": (text) => ({
        input: [{ type: "function_call", call_id: "c", name: "f", arguments: json(text) }],
      }),
      "tool result": (output) => ({ input: [{ type: "function_call_output", call_id: "c", output }] }),
      file: (text) => ({
        input: [user([{ type: "input_file", filename: "a", file_data: `data:text/plain;base64,${base64(text)}` }])],
      }),
      "file name": (filename) => ({ input: [user([{ type: "input_file", filename, file_id: "file-1" }])] }),
      "long name": (text) => ({ tools: [{ type: "function", name: longName(text), parameters: {} }] }),
      "tool schema": (text) => ({
        tools: [{ type: "function", name: "f", parameters: { properties: { [text]: {} } } }],
      }),
      "answer schema": (text) => ({ text: { format: { type: "json_schema", name: "n", schema: { enum: [text] } } } }),
      "reasoning summary": (text) => ({
        input: [{ type: "reasoning", id: "r", summary: [{ type: "summary_text", text }] }],
      }),
      citation: (title) => ({
        input: [
          {
            ...{ type: "message", role: "assistant", id: "m", status: "completed" },
            content: [{ type: "output_text", text: "x", annotations: [{ type: "url_citation", url: "u", title }] }],
          },
        ],
      }),
      metadata: (text) => ({ metadata: { note: text } }),
      "in the background": (input) => ({ input, background: true, store: true }),
    },
    answers: {
      text: responsesAnswer("output_text", (text) => ({
        ...{ type: "message", id: "i", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] },
      })),
      "reasoning summary": responsesAnswer("reasoning_summary_text", (text) => ({
        ...{ type: "reasoning", id: "i", summary: [{ type: "summary_text", text }] },
      })),
      "tool argument": {
        whole: responsesAnswer("", (text) => ({
          type: "function_call",
          call_id: "c",
          name: "f",
          arguments: json(text),
        })).whole,
        events: (pieces) =>
          responsesAnswer("function_call_arguments", (args) => ({
            ...{ type: "function_call", call_id: "c", name: "f", arguments: args },
          })).events(inJson(pieces)),
      },
    },
  },
  gemini: {
    path: (isStream) => `/v1beta/models/gemini:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    base: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    requests: {
      text: (text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
      system: (text) => ({ systemInstruction: { parts: [{ text }] } }),
      "tool argument": (text) => ({
        contents: [{ role: "model", parts: [{ functionCall: { name: "f", args: { a: text } } }] }],
      }),
      "tool result": (text) => ({
        contents: [{ role: "user", parts: [{ functionResponse: { name: "f", response: { a: text } } }] }],
      }),
      file: (text) => ({
        contents: [{ role: "user", parts: [{ inlineData: { mimeType: "text/csv", data: base64(text) } }] }],
      }),
      "file name": (displayName) => ({
        contents: [
          { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=", displayName } }] },
        ],
      }),
      "long name": (text) => ({ tools: [{ functionDeclarations: [{ name: longName(text) }] }] }),
      "tool schema": (text) => ({
        tools: [{ functionDeclarations: [{ name: "f", parameters: { type: "OBJECT", description: text } }] }],
      }),
      "answer schema": (text) => ({ generationConfig: { responseSchema: { type: "STRING", enum: [text] } } }),
      reasoning: (text) => ({ contents: [{ role: "model", parts: [{ text, thought: true }] }] }),
      "stop sequence": (text) => ({ generationConfig: { stopSequences: [text] } }),
      metadata: (text) => ({ labels: { note: text } }),
    },
    answers: {
      text: geminiAnswer((text) => ({ text })),
      reasoning: geminiAnswer((text) => ({ text, thought: true })),
      "tool argument": {
        whole: geminiAnswer((text) => ({ functionCall: { name: "f", args: { a: text } } })).whole,
        events: geminiAnswer((stringValue) => ({
          functionCall: { name: "f", partialArgs: [{ jsonPath: "$.a", stringValue }] },
        })).events,
      },
    },
  },
};
