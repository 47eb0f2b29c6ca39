/**
 * Fields that may be dropped silently, by place, with the reason why that is harmless. `*` stands for any number of
 * characters. An entry that matches nothing fails the test.
 */
const reasons: readonly (readonly [reason: string, places: readonly string[]])[] = [
  [
    "the gateway uses it: it selects the model, the route and the form of the answer",
    ["request *: model", "request *: stream", "request *: stream_options"],
  ],
  [
    "a hint for the vendor's own cache, without effect on the answer",
    ["request *: prompt_cache_*", "request *.prompt_cache_breakpoint", "request messages: *cache_control"],
  ],
  [
    "telemetry, logs and versions of one vendor, without effect on the answer",
    [
      "request *: store",
      "request messages: diagnostics",
      "request messages: fallback_credit_token",
      "request messages: betas",
      "answer messages: diagnostics",
      "request generate: contents[].parts*.partMetadata",
    ],
  ],
  [
    "labels for the upstream's own lists; docs/translation.md says where they are dropped",
    [
      "request *: metadata",
      "request generate: labels",
      "request interactions: labels",
      "request *: safety_identifier",
      "request *: user",
      "request responses: text.format<json_schema>.name",
      "request responses: text.format<json_schema>.description",
    ],
  ],
  [
    "it requests the default",
    [
      "request chat: audio",
      "request chat: prediction",
      "request *<text>",
      "request *caller<direct>",
      "request messages: tools[]<custom>.type",
      "request messages: tools[]<custom>.eager_input_streaming",
      "request messages: thinking<between_tools>",
      "request messages: thinking<disabled>",
      "request messages: service_tier",
      "request responses: input<array>[]<message>.type",
      "request responses: text.format<json_schema>.strict",
      "request responses: tools[]<WebSearch*.type",
    ],
  ],
  [
    "these dialects return thoughts whenever there are any, and have no field to request them",
    [
      "request responses: reasoning.generate_summary",
      "request responses: reasoning.summary",
      "request messages: thinking<*>.display",
      "request generate: generationConfig.thinkingConfig.includeThoughts",
      "request interactions: generation_config.thinking_summaries",
    ],
  ],
  [
    "a budget is translated to an effort, so that similar budgets become equal",
    ["request messages: thinking<enabled>.budget_tokens"],
  ],
  [
    "thoughts are sealed by their vendor and returned only to it (decision: the translation hub)",
    [
      "request messages: messages*<redacted_thinking>",
      "request messages: messages*<thinking>",
      "request responses: input<array>[]<reasoning>",
      "request generate: contents[].parts*.thought",
      "request generate: contents[].parts*.thoughtSignature",
      "request interactions: input*<thought>.s*",
      "request interactions: input*.signature",
    ],
  ],
  [
    "citations in an earlier answer are for its reader and shown to no model (decision: citations)",
    [
      "request messages: *.citations",
      "request responses: input*<output_text>.annotations",
      "request responses: input*<output_text>.logprobs",
    ],
  ],
  [
    "ids and states of the upstream's items; calls and results are paired by call ids",
    [
      "request responses: input*.id",
      "request responses: input*.status",
      "request responses: input*.phase",
      "request generate: contents[].parts*.id",
      "request interactions: input*<code_execution_call>.id",
      "request interactions: input*<code_execution_result>.call_id",
      "request interactions: input*<code_execution_result>.is_error",
    ],
  ],
  [
    "it changes the presentation of a schema, not its meaning",
    [
      "request generate: generationConfig.responseSchema.propertyOrdering",
      "request generate: generationConfig.responseSchema.nullable",
      "request generate: contents[].parts[].codeExecutionResult.outcome",
    ],
  ],
  [
    "labels of the answer that clients of other dialects do not know: times, versions, states and the vendor's ids",
    [
      "answer *: id",
      "answer *: created*",
      "answer responses: completed_at",
      "answer chat: system_fingerprint",
      "answer *: service_tier",
      "answer responses: output*.id",
      "answer responses: output*.status",
      "answer responses: output*.phase",
      "answer responses: output[]<image_generation_call>.*",
      "answer *caller<direct>",
      "answer generate: candidates[].content.role",
      "answer generate: *.codeExecutionResult.*",
      "answer interactions: steps[]<code_execution_*>.*",
      "event interactions: *<code_execution_*>.*",
      "answer generate: *.executableCode.id",
      "answer generate: candidates[].index",
      "answer generate: candidates[].avgLogprobs",
      "answer generate: candidates[].groundingMetadata.retrievalMetadata",
      "answer generate: responseId",
      "answer generate: modelVersion",
      "answer generate: createTime",
      "answer interactions: updated",
      "answer interactions: *<image>.mime_type",
      "event interactions: *<image>.mime_type",
      "answer interactions: agent",
      "event interactions: *: event_id",
      "event interactions: *: interaction_id",
      "event interactions: interaction.status_update: continuation_token",
      "answer generate: sdkHttpResponse",
      "answer generate: modelStatus",
      "event chat: event: id",
      "event chat: event: created",
      "event chat: event: model",
      "event chat: event: service_tier",
      "event chat: event: system_fingerprint",
      "event chat: event: choices[].index",
      "event messages: content_block_start: content_block<tool_use>.caller<direct>",
    ],
  ],
  [
    "the end is translated to a reason that both dialects have; the tests of the dialects cover each",
    [
      "answer generate: candidates[].finishReason",
      "answer generate: candidates[].safetyRatings",
      "answer generate: promptFeedback",
      "answer interactions: errors",
      "event interactions: interaction.status_update: status",
      "answer messages: stop_reason",
      "answer messages: stop_sequence",
      "answer responses: error",
      "answer responses: incomplete_details",
      "event chat: event: choices[].finish_reason",
    ],
  ],
  [
    "chat completions have no field for sealed thoughts, and a thought is shown once",
    [
      "answer messages: content[]<redacted_thinking>",
      "answer messages: content[]<thinking>.signature",
      "answer responses: output[]<reasoning>.content",
      "answer responses: output[]<reasoning>.encrypted_content",
      "answer generate: candidates[].content.parts[].thought",
      "answer generate: candidates[].content.parts[].thoughtSignature",
      "answer interactions: steps[]<thought>.signature",
      "answer interactions: *<thought>.summary[]<image>",
      "event interactions: *<thought>.summary[]<image>",
      "event interactions: *<thought>.signature",
      "event interactions: step.delta: delta<thought_signature>",
      "event messages: content_block_delta: delta<signature_delta>",
      "event messages: content_block_delta: delta<thinking_delta>.estimated_tokens",
      "event messages: content_block_start: content_block<redacted_thinking>.data",
      "event messages: content_block_start: content_block<thinking>.signature",
    ],
  ],
  [
    "the source is translated; the cited words and their position only where the dialect has a field for them",
    [
      "answer messages: content[]<text>.citations[]<*>.*",
      "event messages: *.citations[]<*>.*",
      "event messages: *.citation<*>.*",
      "answer generate: candidates[].groundingMetadata.groundingSupports",
      "answer generate: candidates[].groundingMetadata.webSearchQueries",
      "answer generate: candidates[].groundingMetadata.retrievalQueries",
      "answer interactions: *.annotations[]<*>.*",
      "answer interactions: steps[]<google_search_*>",
      "event interactions: *<google_search_*>",
      "answer responses: *<container_file_citation>.container_id",
      "event interactions: *.annotations[]<*>.*",
    ],
  ],
  [
    "calls are streamed in pieces: the content of their start counts only without pieces, and a call needs a name",
    [
      "event messages: content_block_start: content_block<tool_use>.input",
      "event chat: event: choices[].delta.role",
      "event chat: event: choices[].delta.tool_calls[].*",
    ],
  ],
  [
    "charges use the upstream's own usage, never a translated one",
    [
      "answer *: usage*",
      "answer responses: tool_usage",
      "answer generate: candidates[].tokenCount",
      "event *: *usage*",
    ],
  ],
  [
    "it repeats the request",
    [
      "answer responses: access_programs",
      "answer interactions: agent_config*",
      "answer interactions: cached_content",
      "answer interactions: environment*",
      "answer interactions: generation_config",
      "answer interactions: input",
      "answer interactions: labels",
      "answer interactions: previous_interaction_id",
      "answer interactions: response_*",
      "answer interactions: safety_settings",
      "answer interactions: system_instruction",
      "answer interactions: tools",
      "answer interactions: webhook_config",
      "answer responses: background",
      "answer responses: conversation",
      "answer responses: instructions",
      "answer responses: max_output_tokens",
      "answer responses: max_tool_calls",
      "answer responses: metadata",
      "answer responses: moderation",
      "answer responses: parallel_tool_calls",
      "answer responses: previous_response_id",
      "answer responses: prompt*",
      "answer responses: reasoning",
      "answer responses: safety_identifier",
      "answer responses: temperature",
      "answer responses: text",
      "answer responses: tool_choice",
      "answer responses: tools",
      "answer responses: top_logprobs",
      "answer responses: top_p",
      "answer responses: truncation",
      "answer responses: user",
      "answer responses: output_text",
    ],
  ],
  [
    "positions and numbers of events",
    [
      "event *: *sequence_number",
      "event *: *item_id",
      "event *: *output_index",
      "event *: *content_index",
      "event *: *index",
      "event *obfuscation",
    ],
  ],
  [
    "it repeats the whole answer, which is tested as an answer",
    [
      "event responses: *: response",
      "event messages: message_start: message",
      "event interactions: interaction.created: interaction.*",
      "event interactions: interaction.completed: interaction.*",
      "event responses: response.created",
      "event responses: response.queued",
      "event responses: response.in_progress",
    ],
  ],
  [
    "it reports progress on an item, and the item itself has the result",
    [
      "event responses: response.*.in_progress",
      "event responses: response.*.searching",
      "event responses: response.*.interpreting",
      "event responses: response.*.generating",
      "event responses: response.*.completed",
      "event responses: response.*.partial_image",
      "event responses: response.*.compacting",
      "event messages: message_stop",
    ],
  ],
  [
    "it repeats pieces that were already sent",
    [
      "event responses: response.output_item.added",
      "event responses: response.content_part.added",
      "event responses: response.*.done",
    ],
  ],
];

const used = new Set<string>();

export function isHarmless(where: string): (path: string) => boolean {
  return (path) => {
    // An event of Gemini is a whole answer.
    const full = `${where}: ${path.replace(/^<\w+>\.?/, "")}`.replace(/^event generate: event:/, "answer generate:");
    let found = false;
    for (const { place, pattern } of patterns) {
      if (!pattern.test(full)) continue;
      used.add(place);
      found = true;
    }
    return found;
  };
}

/** Entries that matched nothing. */
export function unmatched(): readonly string[] {
  return patterns.flatMap(({ place }) => (used.has(place) ? [] : [place]));
}

const patterns = reasons.flatMap(([, places]) =>
  places.map((place) => ({
    place,
    pattern: new RegExp(
      `^${place
        .split("*")
        .map((part) => part.replace(/[.[\]<>()+?^$|\\]/g, "\\$&"))
        .join(".*")}$`,
    ),
  })),
);
