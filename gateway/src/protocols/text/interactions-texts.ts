import {
  data,
  fileName,
  media,
  object,
  piece,
  pieces,
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

// Source: Interaction, Step and InteractionSSEEvent of the npm package `@google/genai`.

const annotation = object({
  ...{ type: word, title: text, url: text, file_name: fileName, document_uri: text, name: text, source: text },
  ...wordsOf("start_index", "end_index", "page_number"),
});

const contentMembers: Readonly<Record<string, TextShape>> = {
  type: word,
  text,
  annotations: annotation,
  data: media,
  uri: url,
  mime_type: word,
  name: fileName,
  ...wordsOf("resolution", "channels", "sample_rate", "rate"),
};
const content = object(contentMembers);
const reasoning: TextShape = { place: "reasoning" };
const summary = object({ ...contentMembers, text: reasoning }, reasoning);

const stepMembers: Readonly<Record<string, TextShape>> = {
  type: word,
  content,
  summary,
  signature: sealed,
  id: text,
  call_id: text,
  name: text,
  server_name: text,
  arguments: toolArguments,
  result: toolResults,
  error: text,
  ...wordsOf("is_error", "search_type", "retrieval_type"),
};
/** The result of a function may be a list of contents. */
const functionResult = object({ ...stepMembers, result: { ...content, place: "tool_results" } });
const step = object(stepMembers, { by: [{ member: "type", shapes: { function_result: functionResult } }] });

/** An input may be contents or steps. */
const input = object({ ...contentMembers, ...stepMembers }, { by: step.by ?? [] });

const tools = object(
  { type: word, name: text, description: text, parameters: data, headers: data, allowed_tools: data },
  { place: "system" },
);

const generationConfig = object({
  stop_sequences: text,
  tool_choice: object({ allowed_tools: object({ mode: word, tools: text }) }, { skip: "structure" }),
  ...wordsOf("max_output_tokens", "seed", "temperature", "top_p", "thinking_level", "thinking_summaries"),
});

const members: Readonly<Record<string, TextShape>> = {
  id: text,
  object: word,
  model: word,
  agent: word,
  status: word,
  created: word,
  updated: word,
  input,
  steps: step,
  system_instruction: { place: "system" },
  tools,
  generation_config: generationConfig,
  response_format: object({ type: word, mime_type: word, schema: data }, { place: "system" }),
  labels: data,
  safety_settings: object(wordsOf("type", "threshold", "method")),
  errors: text,
  previous_interaction_id: text,
  environment_id: text,
  cached_content: text,
  continuation_token: sealed,
  outputs: content,
  ...wordsOf("usage", "service_tier", "response_mime_type", "response_modalities"),
};

const delta = object(
  {
    ...stepMembers,
    ...contentMembers,
    text: piece(text),
    arguments: piece(toolArgumentsJson),
    content: object({ ...contentMembers, text: piece(reasoning) }, reasoning),
  },
  {
    others: pieces,
    // Calls of Google's own tools and their results are whole.
    by: [
      {
        member: "type",
        shapes: Object.fromEntries(
          [
            "google_search",
            "google_maps",
            "url_context",
            "code_execution",
            "file_search",
            "retrieval",
            "mcp_server_tool",
          ]
            .flatMap((tool) => [`${tool}_call`, `${tool}_result`])
            .map((type) => [type, object(stepMembers)]),
        ),
      },
    ],
  },
);

export const interactionsTexts: DialectTexts = {
  request: object({ ...members, ...wordsOf("stream", "store", "background") }),
  answer: object(members),
  stream: {
    event: object({
      event_type: word,
      event_id: word,
      index: word,
      interaction_id: text,
      status: word,
      interaction: object(members),
      step,
      delta,
      error: text,
      continuation_token: sealed,
      ...wordsOf("usage", "step_usage", "metadata"),
    }),
    labels: ["index"],
    typeMember: "event_type",
    endsTexts: (type) => type === "step.stop" || type === "interaction.completed",
    repeatsTexts: true,
  },
};
