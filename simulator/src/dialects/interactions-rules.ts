import { Refusal } from "../dialect.ts";
import { type JsonObject, objectOf, objectsOf, stringOf } from "../json-body.ts";

/** Throws Refusal for requests that the vendor would refuse. */
export function refuseInteraction(body: JsonObject): void {
  for (const name of Object.keys(body)) {
    if (!members.has(name)) throw new Refusal(400, `Unknown parameter '${name}'.`);
  }
  const { model, agent, background, store } = body;
  if ((typeof model === "string") === (typeof agent === "string")) {
    throw new Refusal(400, "Exactly one of `model` or `agent` must be set.");
  }
  if (store === false && (background === true || stringOf(body["previous_interaction_id"]) !== "")) {
    throw new Refusal(400, "`store` must be true with `background` or `previous_interaction_id`.");
  }
  if (stringOf(agent).startsWith("deep-research") && background !== true) {
    throw new Refusal(400, "This agent requires `background` to be true.");
  }
  for (const [at, tool] of objectsOf(body["tools"]).entries()) {
    if (tool["type"] === "function" && !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(stringOf(tool["name"]))) {
      throw new Refusal(400, `Invalid function name at 'tools[${at}].name'.`);
    }
  }
  const config = objectOf(body["generation_config"]);
  for (const name of Object.keys(config)) {
    if (!settings.has(name)) throw new Refusal(400, `Unknown parameter 'generation_config.${name}'.`);
  }
  const { stop_sequences: stops, temperature } = config;
  if (Array.isArray(stops) && stops.length > 5) {
    throw new Refusal(400, "The number of stop sequences must be at most 5.");
  }
  if (typeof temperature === "number" && (temperature < 0 || temperature > 2)) {
    throw new Refusal(400, "`temperature` must be between 0 and 2.");
  }
  for (const step of Array.isArray(body["input"]) ? objectsOf(body["input"]) : []) refuseStep(step);
}

function refuseStep(step: JsonObject): void {
  const accepted = steps[stringOf(step["type"])];
  if (accepted === undefined) throw new Refusal(400, `Unknown type '${stringOf(step["type"])}' in 'input'.`);
  for (const name of Object.keys(step)) {
    if (name !== "type" && !accepted.includes(name)) {
      throw new Refusal(400, `Unknown parameter '${name}' of ${stringOf(step["type"])}.`);
    }
  }
}

const members: ReadonlySet<string> = new Set([
  ...["model", "agent", "agent_config", "background", "cached_content", "continuation_token", "environment"],
  ...["generation_config", "input", "labels", "previous_interaction_id", "response_format", "response_mime_type"],
  ...["response_modalities", "safety_settings", "service_tier", "store", "stream", "system_instruction", "tools"],
  "webhook_config",
]);
const settings: ReadonlySet<string> = new Set([
  ...["image_config", "max_output_tokens", "seed", "speech_config", "stop_sequences", "temperature"],
  ...["thinking_level", "thinking_summaries", "tool_choice", "top_p", "transcription_config", "video_config"],
]);
const call = ["id", "name", "arguments", "signature", "server_name", "search_type", "retrieval_type"];
const result = ["call_id", "name", "result", "is_error", "signature", "server_name"];
const media = ["data", "uri", "mime_type", "resolution"];
/** Members of steps and contents by type. */
const steps: Readonly<Record<string, readonly string[]>> = {
  user_input: ["content"],
  model_output: ["content", "error"],
  thought: ["signature", "summary"],
  function_call: ["id", "name", "arguments"],
  function_result: ["call_id", "name", "result", "is_error"],
  ...Object.fromEntries(
    [
      ...["google_search", "google_maps", "url_context", "code_execution", "file_search", "retrieval", "processing"],
      "mcp_server_tool",
    ].flatMap((tool) => [
      [`${tool}_call`, call],
      [`${tool}_result`, result],
    ]),
  ),
  text: ["text", "annotations"],
  image: media,
  document: media,
  audio: [...media, "channels", "sample_rate"],
  video: [...media, "name", "processing"],
};
