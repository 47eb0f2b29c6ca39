import { Refusal } from "../dialect.ts";
import { isObject, type JsonObject, objectOf, objectsOf, stringsIn } from "../json-body.ts";

export interface MessagesFacts {
  /** The model, if the path names it; null if the body does. */
  readonly model: string | null;
  readonly version: string;
  /** Whether to stream, if the path determines it; null if the body does. `count`: only counts, so max_tokens is optional. */
  readonly stream: boolean | "count" | null;
}

/** Checks all options except the messages, like the Messages API. */
export function refuseOptions(body: JsonObject, { version, stream }: MessagesFacts): void {
  const max = body["max_tokens"];
  if (stream !== "count") {
    if (max === undefined || max === null) throw new Refusal(400, "max_tokens: Field required");
    if (typeof max !== "number" || !Number.isInteger(max) || max < 1) {
      throw new Refusal(400, "max_tokens: Input should be greater than or equal to 1");
    }
  }
  if (version === "2026-10-21") refuseSampling(body);
  const temperature = body["temperature"];
  if (typeof temperature === "number" && (temperature < 0 || temperature > 1)) {
    throw new Refusal(400, "temperature: range: 0..1");
  }
  refuseThinking(body, typeof max === "number" ? max : Number.POSITIVE_INFINITY);
  refuseTools(body);
  const marks = cacheMarks([body["system"], body["tools"], body["messages"]]);
  if (marks > 4) throw new Refusal(400, `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
}

/** Version 2026-10-21 does not accept sampling parameters, not even with default values. */
function refuseSampling(body: JsonObject): void {
  for (const name of ["temperature", "top_p", "top_k"]) {
    if (body[name] !== undefined) throw new Refusal(400, `${name}: Extra inputs are not permitted`);
  }
}

function refuseThinking(body: JsonObject, max: number): void {
  const { type, budget_tokens: budget } = objectOf(body["thinking"]);
  if (type !== "enabled") return;
  if (typeof budget !== "number") throw new Refusal(400, "thinking.enabled.budget_tokens: Field required");
  if (budget < 1024) {
    throw new Refusal(400, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
  }
  if (budget >= max) throw new Refusal(400, "`max_tokens` must be greater than `thinking.budget_tokens`.");
  const choice = objectOf(body["tool_choice"])["type"];
  if (choice === "any" || choice === "tool") {
    throw new Refusal(400, "Thinking may not be enabled when tool_choice forces tool use.");
  }
  if (typeof body["temperature"] === "number" && body["temperature"] !== 1) {
    throw new Refusal(400, "`temperature` may only be set to 1 when thinking is enabled.");
  }
}

function refuseTools(body: JsonObject): void {
  const tools = objectsOf(body["tools"]);
  for (const [index, tool] of tools.entries()) {
    const isCustom = tool["type"] === undefined || tool["type"] === null || tool["type"] === "custom";
    if (!isCustom) continue;
    const at = `tools.${index}.custom`;
    if (typeof tool["name"] !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(tool["name"])) {
      throw new Refusal(400, `${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    }
    if (!isObject(tool["input_schema"])) throw new Refusal(400, `${at}.input_schema: Field required`);
    if (tool["input_schema"]["type"] !== "object") throw new Refusal(400, `${at}.input_schema.type: Field required`);
  }
  const { type, name } = objectOf(body["tool_choice"]);
  if (type !== undefined && type !== "none" && tools.length === 0) {
    throw new Refusal(400, "tool_choice may only be specified while providing tools");
  }
  if (type === "tool" && !tools.some((tool) => tool["name"] === name)) {
    throw new Refusal(400, `Tool '${stringsIn(name).join("")}' not found in provided tools`);
  }
}

function cacheMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + cacheMarks(item), 0);
  if (!isObject(value)) return 0;
  const ownCount = isObject(value["cache_control"]) ? 1 : 0;
  return ownCount + cacheMarks(value["content"]);
}
