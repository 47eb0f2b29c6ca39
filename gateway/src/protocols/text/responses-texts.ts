import {
  data,
  fileName,
  media,
  object,
  piece,
  sealed,
  text,
  toolArguments,
  toolArgumentsJson,
  toolResults,
  url,
  word,
  wordsOf,
} from "./common-shapes.ts";
import type { DialectTexts, TextShape } from "./shape.ts";

// Source: ResponseInputItem, ResponseOutputItem and ResponseStreamEvent of the npm package `openai`.

const annotation = object({ type: word, title: text, url: text, filename: fileName, file_id: text });

const part = object({
  type: word,
  text,
  refusal: text,
  annotations: annotation,
  logprobs: { repeats: "[]" },
  image_url: url,
  detail: word,
  file_id: text,
  file_url: url,
  file_data: { url: true, place: "files" },
  filename: fileName,
  input_audio: object({ data: media, format: word }),
});

const reasoningPart = object({ type: word, text }, { place: "reasoning" });

const toolOutput: TextShape = { ...part, place: "tool_results" };

const itemMembers: Readonly<Record<string, TextShape>> = {
  type: word,
  role: word,
  status: word,
  phase: word,
  id: text,
  call_id: text,
  name: text,
  namespace: text,
  content: part,
  arguments: { ...toolArgumentsJson, data: true },
  input: toolArguments,
  action: toolArguments,
  operation: toolArguments,
  code: toolArguments,
  queries: toolArguments,
  output: toolResults,
  outputs: toolResults,
  results: toolResults,
  error: toolResults,
  summary: reasoningPart,
  encrypted_content: sealed,
  result: media,
  revised_prompt: text,
  fingerprint: sealed,
};

const item = object(itemMembers, {
  by: [
    {
      member: "type",
      shapes: {
        reasoning: object({ ...itemMembers, content: reasoningPart }),
        function_call_output: object({ ...itemMembers, output: toolOutput }),
        custom_tool_call_output: object({ ...itemMembers, output: toolOutput }),
        program_output: object({ ...itemMembers, result: toolResults }),
      },
    },
  ],
});

/** Items with a role are messages, and need no type. */
const inputItems: TextShape = {
  ...item,
  by: [...(item.by ?? []), { member: "role", shapes: { system: { place: "system" }, developer: { place: "system" } } }],
};

const toolMembers: Readonly<Record<string, TextShape>> = {
  type: word,
  name: text,
  description: text,
  parameters: data,
  format: data,
  strict: word,
};

const tools = object(
  { ...toolMembers, tools: object(toolMembers), authorization: sealed, headers: data, server_description: text },
  { place: "system" },
);

const response = object({
  id: text,
  object: word,
  model: word,
  status: word,
  output: item,
  output_text: text,
  instructions: { ...item, place: "system" },
  tools,
  tool_choice: object({ type: word, name: text }, { skip: "structure" }),
  text: object({ format: data, verbosity: word }, { place: "system" }),
  reasoning: object({ effort: word, summary: word, generate_summary: word }),
  usage: word,
  metadata: data,
  error: text,
  incomplete_details: object({ reason: word }),
  previous_response_id: text,
  prompt_cache_key: text,
  prompt_cache_retention: word,
  safety_identifier: text,
  service_tier: word,
  truncation: word,
  user: text,
  billing: word,
});

export const responsesTexts: DialectTexts = {
  request: object({
    ...response.members,
    input: inputItems,
    include: word,
    stream_options: word,
    prompt: object({ id: text, version: text, variables: data }),
    ...wordsOf("stream", "background", "store", "max_output_tokens", "max_tool_calls", "temperature", "top_p"),
    ...wordsOf("parallel_tool_calls", "top_logprobs"),
  }),
  answer: response,
  stream: {
    event: object(
      {
        type: word,
        sequence_number: word,
        output_index: word,
        item_id: text,
        content_index: word,
        summary_index: word,
        obfuscation: word,
        response,
        item,
        part,
        delta: piece(text),
        text,
        refusal: text,
        arguments: toolArgumentsJson,
        input: { place: "tool_arguments" },
        code: { place: "tool_arguments" },
        annotation,
        partial_image_b64: media,
        logprobs: { repeats: "[]" },
      },
      {
        by: [
          {
            member: "type",
            shapes: {
              "response.function_call_arguments.delta": deltaOf(toolArgumentsJson),
              "response.mcp_call_arguments.delta": deltaOf(toolArgumentsJson),
              "response.custom_tool_call_input.delta": deltaOf({ place: "tool_arguments" }),
              "response.code_interpreter_call_code.delta": deltaOf({ place: "tool_arguments" }),
              "response.reasoning_text.delta": deltaOf({ place: "reasoning" }),
              "response.reasoning_summary_text.delta": deltaOf({ place: "reasoning" }),
              "response.audio.delta": deltaOf(media),
            },
          },
        ],
      },
    ),
    // Some vendors give each event another `item_id`.
    labels: ["output_index", "content_index", "summary_index"],
    endsTexts: (type) => /\.(?:done|completed|incomplete|failed|cancelled)$/.test(type),
    repeatsTexts: true,
  },
};

function deltaOf(shape: TextShape): TextShape {
  return object({
    ...{ type: word, sequence_number: word, output_index: word, item_id: text, content_index: word },
    ...{ summary_index: word, obfuscation: word, delta: piece(shape) },
  });
}
