import {
  data,
  media,
  object,
  piece,
  pieces,
  sealed,
  text,
  toolArguments,
  toolArgumentsJson,
  url,
  word,
  wordsOf,
} from "./common-shapes.ts";
import type { DialectTexts, TextShape } from "./shape.ts";

// Source: BetaMessageParam and BetaRawMessageStreamEvent of the npm package `@anthropic-ai/sdk`.

const citation = object({ type: word, cited_text: text, encrypted_index: sealed });

/** Base64, or text if `type` is `text`. */
const sourceMembers = { type: word, media_type: word, data: media, url, file_id: text };
const source = object(sourceMembers, {
  place: "files",
  by: [{ member: "type", shapes: { text: object({ ...sourceMembers, data: text }) } }],
});

/** Members of content blocks, which have the same meaning in every type of block. */
const blockMembers: Readonly<Record<string, TextShape>> = {
  type: word,
  text,
  citations: citation,
  cache_control: word,
  id: text,
  tool_use_id: text,
  name: text,
  input: toolArguments,
  is_error: word,
  source,
  title: { place: "files" },
  context: { place: "files" },
  thinking: { place: "reasoning", signed: true },
  signature: sealed,
  data: sealed,
  encrypted_content: sealed,
  encrypted_index: sealed,
  encrypted_stdout: sealed,
};

const searchResult = object({ ...blockMembers, source: text, content: text }, { place: "tool_results" });

const result = object(
  { ...blockMembers, content: object(blockMembers) },
  { place: "tool_results", by: [{ member: "type", shapes: { search_result: searchResult } }] },
);

const block = object(
  { ...blockMembers, content: result },
  { by: [{ member: "type", shapes: { search_result: searchResult } }] },
);

const tool = object(
  {
    type: word,
    name: text,
    description: text,
    input_schema: data,
    input_examples: data,
    cache_control: word,
  },
  { place: "system" },
);

const delta = object(
  {
    type: word,
    text: piece(text),
    partial_json: piece(toolArgumentsJson),
    thinking: piece({ place: "reasoning", signed: true }),
    signature: sealed,
    encrypted_content: sealed,
    citation,
    stop_reason: word,
    stop_sequence: text,
  },
  { others: pieces },
);

export const messagesTexts: DialectTexts = {
  request: object({
    model: word,
    system: object(blockMembers, { place: "system" }),
    messages: object(
      { role: word, content: block },
      { by: [{ member: "role", shapes: { system: { place: "system" } } }] },
    ),
    tools: tool,
    tool_choice: object({ type: word, name: text, disable_parallel_tool_use: word }),
    thinking: object({ type: word, budget_tokens: word, display: word }),
    metadata: data,
    stop_sequences: text,
    service_tier: word,
    cache_control: word,
    ...wordsOf("stream", "max_tokens", "temperature", "top_p", "top_k"),
  }),
  answer: object({
    id: text,
    type: word,
    role: word,
    model: word,
    content: block,
    stop_reason: word,
    stop_sequence: text,
    usage: word,
  }),
  stream: {
    event: object({
      type: word,
      index: word,
      message: object({ id: text, type: word, role: word, model: word, content: block, usage: word }),
      content_block: object(
        { ...blockMembers, text: piece(text), thinking: piece({ place: "reasoning", signed: true }), content: result },
        { by: block.by ?? [] },
      ),
      delta,
      usage: word,
    }),
    labels: ["index"],
    endsTexts: (type) => type === "content_block_stop" || type === "message_delta" || type === "message_stop",
  },
};
