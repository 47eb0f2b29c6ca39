import type { JsonObject } from "../json/value.ts";

/** A response of which hardly anything is known, with every member that the specification requires. */
export function bareResponse(known: JsonObject): JsonObject {
  return {
    object: "response",
    created_at: 0,
    completed_at: null,
    status: "completed",
    background: false,
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    model: "",
    output: [],
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: null,
    safety_identifier: null,
    service_tier: "default",
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: null,
    access_programs: null,
    ...known,
  };
}
