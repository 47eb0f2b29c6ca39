import {
  data,
  fileName,
  media,
  object,
  piece,
  pieces,
  sealed,
  text,
  toolArgumentsJson,
  url,
  word,
  wordsOf,
} from "./common-shapes.ts";
import type { DialectTexts, TextShape } from "./shape.ts";

// Source: ChatCompletionCreateParams and ChatCompletionChunk of the npm package `openai`.

const part = object({
  type: word,
  text,
  refusal: text,
  image_url: object({ url, detail: word }, { url: true, place: "files" }),
  video_url: object({ url }, { url: true, place: "files" }),
  audio_url: object({ url }, { url: true, place: "files" }),
  input_audio: object({ data: media, format: word }),
  file: object({ file_data: { url: true }, filename: fileName, file_id: text }, { place: "files" }),
  cache_control: word,
});

const toolCall = object({
  index: word,
  id: text,
  type: word,
  function: object({ name: text, arguments: toolArgumentsJson }),
  custom: object({ name: text, input: { place: "tool_arguments" } }),
  extra_content: object({ google: object({ thought_signature: sealed }) }),
});

const reasoningDetails = object({
  type: word,
  id: text,
  format: word,
  index: word,
  data: sealed,
  signature: sealed,
  text: { place: "reasoning" },
  summary: { place: "reasoning" },
});

const messageMembers: Readonly<Record<string, TextShape>> = {
  role: word,
  content: part,
  name: text,
  refusal: text,
  tool_call_id: text,
  tool_calls: toolCall,
  function_call: object({ name: text, arguments: toolArgumentsJson }),
  audio: object({ id: text, data: media, transcript: text, expires_at: word }),
  reasoning_content: { place: "reasoning" },
  reasoning: { place: "reasoning" },
  reasoning_details: reasoningDetails,
  annotations: object({
    type: word,
    url_citation: object({ url: text, title: text, start_index: word, end_index: word }),
  }),
  cache_control: word,
};

const message = object(messageMembers, {
  by: [
    {
      member: "role",
      shapes: {
        system: { place: "system" },
        developer: { place: "system" },
        tool: { place: "tool_results" },
        function: { place: "tool_results" },
      },
    },
  ],
});

const tools = object(
  {
    type: word,
    function: object({ name: text, description: text, parameters: data, strict: word }),
    custom: object({ name: text, description: text, format: data }),
    cache_control: word,
  },
  { place: "system" },
);

export const chatTexts: DialectTexts = {
  request: object({
    model: word,
    messages: message,
    tools,
    functions: object({ name: text, description: text, parameters: data }, { place: "system" }),
    tool_choice: word,
    response_format: object(
      { type: word, json_schema: object({ name: text, description: text, schema: data, strict: word }) },
      { place: "system" },
    ),
    prediction: object({ type: word, content: part }),
    stop: text,
    metadata: data,
    user: text,
    safety_identifier: text,
    prompt_cache_key: text,
    prompt_cache_retention: word,
    web_search_options: object({ search_context_size: word, user_location: data }),
    reasoning_effort: word,
    modalities: word,
    audio: word,
    service_tier: word,
    verbosity: word,
    stream_options: word,
    logit_bias: word,
    // Of other vendors that speak the dialect.
    reasoning: word,
    thinking: word,
    provider: word,
    ...wordsOf("stream", "n", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "store"),
    ...wordsOf("frequency_penalty", "presence_penalty", "logprobs", "top_logprobs", "parallel_tool_calls"),
  }),
  answer: object({
    id: text,
    object: word,
    model: word,
    created: word,
    system_fingerprint: word,
    service_tier: word,
    provider: word,
    usage: word,
    choices: object({
      index: word,
      finish_reason: word,
      native_finish_reason: word,
      stop_reason: word,
      message: object(messageMembers),
      text,
      logprobs: { repeats: "null" },
    }),
    citations: text,
  }),
  stream: {
    event: object({
      id: text,
      object: word,
      model: word,
      created: word,
      system_fingerprint: word,
      service_tier: word,
      provider: word,
      obfuscation: word,
      usage: word,
      choices: object({
        index: word,
        finish_reason: { skip: "structure", ends: true },
        native_finish_reason: word,
        stop_reason: word,
        text: piece(text),
        logprobs: { repeats: "null" },
        delta: object(
          {
            ...messageMembers,
            content: piece(text),
            refusal: piece(text),
            reasoning_content: piece({ place: "reasoning" }),
            reasoning: piece({ place: "reasoning" }),
            reasoning_details: object({
              ...reasoningDetails.members,
              text: piece({ place: "reasoning" }),
              summary: piece({ place: "reasoning" }),
            }),
            tool_calls: object({
              ...toolCall.members,
              function: object({ name: text, arguments: piece(toolArgumentsJson) }),
              custom: object({ name: text, input: piece({ place: "tool_arguments" }) }),
            }),
            function_call: object({ name: text, arguments: piece(toolArgumentsJson) }),
            audio: object({ id: text, data: media, transcript: piece(text), expires_at: word }),
          },
          { others: pieces },
        ),
      }),
    }),
    labels: ["index"],
    endsTexts: () => false,
  },
};
