/** For each API, a body that uses much of it, for tests that then corrupt it. */
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const tool = { name: "weather", description: "of a city", parameters, strict: true };
const schema = { name: "answer", schema: parameters, strict: true };

const chat = {
  messages: [
    { role: "system", content: "be brief" },
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${png}`, detail: "low" } },
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: "hm",
      tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"x"}' } }],
    },
    { role: "tool", tool_call_id: "c1", content: "sun" },
    { role: "user", content: "go on" },
  ],
  tools: [{ type: "function", function: tool }],
  tool_choice: { type: "function", function: { name: "weather" } },
  temperature: 0.5,
  stop: ["x"],
  max_tokens: 10,
  response_format: { type: "json_schema", json_schema: schema },
  reasoning_effort: "low",
  parallel_tool_calls: true,
  metadata: { a: "b" },
};

const messages = {
  max_tokens: 2_000,
  system: [{ type: "text", text: "be brief", cache_control: { type: "ephemeral", ttl: "1h" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" }, title: "t" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        { type: "tool_use", id: "c1", name: "weather", input: { city: "x" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "sun" }] }] },
  ],
  tools: [{ name: "weather", description: "of a city", input_schema: parameters }],
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
  top_k: 5,
  stop_sequences: ["x"],
  thinking: { type: "enabled", budget_tokens: 1_024 },
  metadata: { user_id: "u" },
};

const responses = {
  instructions: "be brief",
  input: [
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "look" },
        { type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "low" },
        { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" },
      ],
    },
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "zzz" },
    { type: "function_call", id: "fc_1", call_id: "c1", name: "weather", arguments: '{"city":"x"}' },
    { type: "function_call_output", call_id: "c1", output: "sun" },
  ],
  tools: [
    { type: "function", ...tool },
    { type: "namespace", name: "n", tools: [{ type: "function", name: "f", parameters }] },
  ],
  tool_choice: { type: "function", name: "weather" },
  max_output_tokens: 20,
  reasoning: { effort: "low", summary: "auto" },
  text: { format: { type: "json_schema", ...schema }, verbosity: "low" },
  store: false,
  include: ["reasoning.encrypted_content"],
};

const generate = {
  systemInstruction: { parts: [{ text: "be brief" }] },
  contents: [
    { role: "user", parts: [{ text: "look" }, { inlineData: { mimeType: "image/png", data: png } }] },
    {
      role: "model",
      parts: [
        { text: "hm", thought: true, thoughtSignature: "c2ln" },
        { functionCall: { id: "c1", name: "weather", args: { city: "x" } } },
      ],
    },
    { role: "user", parts: [{ functionResponse: { id: "c1", name: "weather", response: { output: "sun" } } }] },
  ],
  tools: [{ functionDeclarations: [{ name: "weather", parameters: { type: "OBJECT", properties: {} } }] }],
  toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["weather"] } },
  generationConfig: {
    temperature: 0.5,
    maxOutputTokens: 20,
    stopSequences: ["x"],
    responseMimeType: "application/json",
    responseSchema: { type: "OBJECT", properties: { a: { type: "STRING" } } },
    thinkingConfig: { includeThoughts: true, thinkingBudget: 100 },
  },
};

export const richBodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  chat,
  messages,
  responses,
  generate,
};
