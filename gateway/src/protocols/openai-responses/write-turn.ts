import type { AnswerFormat, ReasoningRequest, SearchRequest, ToolChoice, Turn, TurnTool } from "#core/index.ts";
import type { DialectTraits, TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, jsonBytes, orUndefined, unsupported } from "../json/value.ts";
import { fitReasoning, openaiSampling, requestedEffort } from "../turn/reasoning.ts";
import type { Effort } from "../turn/reasoning-traits.ts";
import { toolSchema, writeNamedSchema } from "../turn/schemas.ts";
import { warnOfSearchParameters, writeLocation } from "../turn/search-request.ts";
import { warnOfUnsupported, writeTier } from "../turn/settings.ts";
import { shortId, shortToolName } from "../turn/tool-calls.ts";
import { warnOnce } from "../turn/warnings.ts";
import { InputWriter, idCharactersMax } from "./write-input.ts";

/** Writes a request that stores nothing at the upstream. */
export function writeResponsesTurn(turn: Turn, target: TurnTarget, warning: Warn): Uint8Array {
  if (turn.choices > 1) throw unsupported("n", "This model's upstream returns only one answer.");
  const warn = warnOnce(warning);
  const lacking = ["stop", "pictures", "google", "topK", "seed", "presencePenalty", "frequencyPenalty"] as const;
  warnOfUnsupported(turn, lacking, warn);
  const input = new InputWriter(target, warn);
  input.write(turn.messages);
  const instructions = turn.system.map((part) => part.text).join("\n\n");
  const reasoning = turn.reasoning === null ? null : writeReasoning(turn.reasoning, target.traits, warn);
  const outputTokensMax = outputCap(turn.outputTokensMax, warn);
  const effort = (reasoning?.["effort"] ?? null) as Effort | null;
  const { temperature, topP } = openaiSampling(
    { ...turn, presencePenalty: null, frequencyPenalty: null },
    target.traits,
    effort,
    warn,
  );
  const search = writeWebSearch(turn, warn);
  const tools = [...turn.tools.map((tool) => writeTool(tool, warn)), ...(search === null ? [] : [search.tool])];
  const { toolChoice, userId, cacheKey } = turn;
  const chooses = turn.tools.length > 0;
  // Models without reasoning refuse this.
  const wantsSeals = input.hasOwnReasoning || (reasoning !== null && reasoning["effort"] !== "none");
  const body = {
    model: target.upstreamModel,
    // Instructions alone are not accepted as input.
    input: input.items.length > 0 ? input.items : [{ role: "system", content: instructions }],
    store: false,
    stream: turn.stream ? true : undefined,
    instructions: instructions !== "" && input.items.length > 0 ? instructions : undefined,
    max_output_tokens: orUndefined(outputTokensMax),
    temperature: orUndefined(temperature),
    top_p: orUndefined(topP),
    tools: tools.length > 0 ? tools : undefined,
    max_tool_calls: search?.callsMax ?? undefined,
    tool_choice: chooses && toolChoice !== null ? writeToolChoice(toolChoice) : undefined,
    parallel_tool_calls: chooses ? orUndefined(turn.parallelToolCalls) : undefined,
    reasoning: orUndefined(reasoning),
    include: wantsSeals ? ["reasoning.encrypted_content"] : undefined,
    text: orUndefined(writeText(turn, target.traits, warn)),
    metadata: orUndefined(writeMetadata(turn.metadata, warn)),
    safety_identifier: userId === null ? undefined : shortId(userId, "user_", idCharactersMax),
    prompt_cache_key: cacheKey === null ? undefined : shortId(cacheKey, "key_", idCharactersMax),
    service_tier: orUndefined(writeTier(turn.serviceTier, tiers, warn)),
  };
  return jsonBytes(body);
}

/** The API's minimum. */
const outputTokensMin = 16;

function outputCap(cap: number | null, warn: Warn): number | null {
  if (cap === null || cap >= outputTokensMin) return cap;
  warn(`the cap on output tokens was raised to ${outputTokensMin}, the least the upstream accepts`);
  return outputTokensMin;
}

function writeTool(tool: TurnTool, warn: Warn): JsonObject {
  const { parameters, strict } = toolSchema(tool, warn);
  return {
    type: "function",
    name: shortToolName(tool.name),
    description: orUndefined(tool.description),
    parameters,
    // The default here is strict.
    strict: strict ?? false,
  };
}

function writeToolChoice(choice: ToolChoice): string | JsonObject {
  if (choice.kind === "tool") return { type: "function", name: shortToolName(choice.name) };
  return choice.kind === "any" ? "required" : choice.kind;
}

function writeReasoning(requested: ReasoningRequest, { reasoning = {} }: DialectTraits, warn: Warn): JsonObject | null {
  const setting = fitReasoning(requested, requestedEffort(requested), reasoning, warn);
  // Effort is the only switch. Some vendors' least effort is no reasoning.
  const off = reasoning.efforts?.includes("minimal") === true ? "minimal" : "none";
  const effort = setting.on === false ? off : setting.effort;
  if (reasoning.never === true || (effort === null && !requested.visible)) return null;
  return {
    ...(effort === null ? {} : { effort }),
    ...(requested.visible && effort !== "none" ? { summary: "auto" } : {}),
  };
}

function writeText(turn: Turn, traits: DialectTraits, warn: Warn): JsonObject | null {
  const { format, verbosity } = turn;
  if (format === null && verbosity === null) return null;
  return { format: format === null ? undefined : writeFormat(format, traits, warn), verbosity: orUndefined(verbosity) };
}

function writeFormat(format: AnswerFormat, traits: DialectTraits, warn: Warn): JsonObject {
  if (format.kind === "text") return { type: "text" };
  if (format.kind === "json") return { type: "json_object" };
  if (traits.noSchemaOutput === true) {
    warn("the schema of the answer is not supported by the upstream: plain JSON was requested");
    return { type: "json_object" };
  }
  return { type: "json_schema", ...writeNamedSchema(format) };
}

function writeMetadata(metadata: Turn["metadata"], warn: Warn): JsonObject | null {
  if (metadata === null) return null;
  const entries = Object.entries(metadata);
  const accepted = entries.filter(([key, value]) => key.length <= 64 && value.length <= 512).slice(0, 16);
  if (accepted.length < entries.length) warn("metadata beyond what the upstream accepts was dropped");
  return accepted.length === 0 ? null : Object.fromEntries(accepted);
}

const tiers: Readonly<Record<string, string | null>> = {
  ...{ auto: "auto", default: "default", flex: "flex", scale: "scale" },
  ...{ priority: "priority", fast: "fast", ultrafast: "ultrafast" },
};

/** `callsMax` limits all of the upstream's tools, of which search is the only one. */
function writeWebSearch(
  { search }: Turn,
  warn: Warn,
): { readonly tool: JsonObject; readonly callsMax: number | null } | null {
  if (search === undefined) return null;
  warnOfSearchParameters(search, sentParameters, warn);
  const tool = {
    type: "web_search",
    ...(search.allowedDomains.length === 0 ? {} : { filters: { allowed_domains: search.allowedDomains } }),
    ...(search.location === null ? {} : { user_location: writeLocation(search.location) }),
    ...(search.contextSize === null ? {} : { search_context_size: search.contextSize }),
  };
  return { tool, callsMax: search.usesMax };
}

const sentParameters: ReadonlySet<keyof SearchRequest> = new Set([
  "usesMax",
  "allowedDomains",
  "location",
  "contextSize",
]);
