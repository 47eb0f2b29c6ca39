import type { ReasoningRequest, SearchRequest, ToolChoice, Turn } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, jsonBytes, missingParam, unsupported, withoutNulls } from "../json/value.ts";
import { type Effort, effortWithin, thinkingBudgets } from "../turn/reasoning-traits.ts";
import { defaultSearch, stringsIn, warnOfSearchParameters } from "../turn/search-request.ts";
import { jsonInstruction, warnOfUnsupported, writeTier } from "../turn/settings.ts";
import { warnOfUnsentMembers, warnOnce } from "../turn/warnings.ts";
import { generationOf, writeToolName } from "./encodings.ts";
import { camelKeys } from "./protobuf-json.ts";
import { writeContents } from "./write-contents.ts";

/** The model and streaming are in the path. Cache hints, user id and metadata have no field and do not affect the answer. */
export function writeGeminiTurn(turn: Turn, target: TurnTarget, warn: Warn): Uint8Array {
  const warned = warnOnce(warn);
  const contents = writeContents(turn.messages, target, warned);
  const system = turn.system.filter((part) => part.text !== "").map((part): JsonObject => ({ text: part.text }));
  const format = formatInWords(turn, target);
  if (format !== null) {
    warned("the format of the answer was put into the instructions: the model does not combine it with functions");
    system.push({ text: format });
  }
  const generationConfig = writeGeneration(turn, target, warned);
  const body = {
    ...withSystem(system, contents, warned),
    ...writeTools(turn, warned),
    ...(generationConfig === null ? {} : { generationConfig }),
    ...withoutNulls({ serviceTier: writeTier(turn.serviceTier, tiers, warned) }),
    ...writeExtras(turn),
  };
  return jsonBytes(body);
}

function writeExtras({ google }: Turn): JsonObject {
  const { cachedContent = null, safetySettings = [] } = google ?? {};
  return withoutNulls({ cachedContent, safetySettings: safetySettings.length === 0 ? null : safetySettings });
}

/** Contents must not be empty, so instructions alone are sent as the user's. */
function withSystem(system: readonly JsonObject[], contents: readonly JsonObject[], warn: Warn): JsonObject {
  if (contents.length > 0)
    return system.length === 0 ? { contents } : { systemInstruction: { parts: system }, contents };
  if (system.length === 0) throw missingParam("messages");
  warn("instructions without a conversation were sent as user text");
  return { contents: [{ role: "user", parts: system }] };
}

/** The default tier has other names at other vendors. */
const tiers: Readonly<Record<string, string | null>> = {
  ...{ auto: null, default: null, unspecified: null },
  ...{ standard: "standard", flex: "flex", priority: "priority" },
};

function writeTools(turn: Turn, warn: Warn): JsonObject {
  const searching = writeSearch(turn, warn);
  if (turn.tools.length === 0) return searching.length === 0 ? {} : { tools: searching };
  if (turn.parallelToolCalls === false) {
    warn("parallel tool calls cannot be disabled at the upstream");
  }
  if (turn.tools.some((tool) => tool.strict === true)) {
    warn("strict tools are not supported by the upstream: arguments may not match the schema");
  }
  const functionDeclarations = turn.tools.map(({ name, description, parameters }) =>
    withoutNulls({ name: writeToolName(name), description, parametersJsonSchema: parameters }),
  );
  const tools = [{ functionDeclarations }];
  if (turn.toolChoice === null) return { tools };
  return { tools, toolConfig: { functionCallingConfig: writeChoice(turn.toolChoice) } };
}

function writeChoice(choice: ToolChoice): JsonObject {
  if (choice.kind === "tool") return { mode: "ANY", allowedFunctionNames: [writeToolName(choice.name)] };
  return { mode: choice.kind.toUpperCase() };
}

/** Null if nothing is set. */
function writeGeneration(turn: Turn, target: TurnTarget, warn: Warn): JsonObject | null {
  if (turn.choices > 1) throw unsupported("n", "The upstream returns only one answer.");
  warnOfUnsupported(turn, ["verbosity"], warn);
  const config = withoutNulls({
    temperature: turn.temperature,
    topP: turn.topP,
    topK: turn.topK,
    maxOutputTokens: turn.outputTokensMax,
    presencePenalty: turn.presencePenalty,
    frequencyPenalty: turn.frequencyPenalty,
    seed: seedOf(turn.seed, warn),
    stopSequences: stopSequences(turn.stop, warn),
    responseModalities: turn.pictures === true ? ["TEXT", "IMAGE"] : null,
    ...writeFormat(turn, target, warn),
    thinkingConfig: writeThinking(turn.reasoning, target.upstreamModel, warn),
  });
  return Object.keys(config).length === 0 ? null : config;
}

const stopSequencesMax = 5;
const seedMax = 2 ** 31 - 1;

/** Seeds have 32 bits. */
export function seedOf(seed: number | null, warn: Warn): number | null {
  if (seed === null || (Number.isInteger(seed) && Math.abs(seed) <= seedMax)) return seed;
  warn("seed is too large for the upstream and was dropped");
  return null;
}

export function stopSequences(stop: readonly string[], warn: Warn): readonly string[] | null {
  const sequences = stop.filter((sequence) => sequence !== "");
  if (sequences.length > stopSequencesMax) {
    warn(`the upstream takes ${stopSequencesMax} stop sequences; the others were dropped`);
  }
  return sequences.length === 0 ? null : sequences.slice(0, stopSequencesMax);
}

function writeFormat(turn: Turn, target: TurnTarget, warn: Warn): JsonObject {
  const { format } = turn;
  if (format === null || format.kind === "text" || formatInWords(turn, target) !== null) return {};
  const responseMimeType = "application/json";
  if (format.kind === "json") return { responseMimeType };
  if (target.traits.noSchemaOutput !== true) return { responseMimeType, responseJsonSchema: format.schema };
  warn("the schema of the answer is not supported by the upstream: plain JSON was requested");
  return { responseMimeType };
}

/** Models before Gemini 3 refuse JSON together with functions, so the format goes into the instructions. Null if that is not needed. */
function formatInWords({ format, tools }: Turn, { upstreamModel }: TurnTarget): string | null {
  if (format === null || format.kind === "text" || tools.length === 0) return null;
  if ((generationOf(upstreamModel) ?? jsonBesideFunctionsSince) >= jsonBesideFunctionsSince) return null;
  return `Once you call no more functions: ${jsonInstruction(format)}`;
}

const jsonBesideFunctionsSince = 3;

/** Gemini 3 and later gets a level for an effort, other models a budget; both together are refused. Null if nothing is set. */
function writeThinking(requested: ReasoningRequest | null, model: string, warn: Warn): JsonObject | null {
  if (requested === null) return null;
  const generation = generationOf(model);
  if (generation !== null && generation < thinkingSince) {
    if (requested.effort !== "none") warn("thinking is not supported by this model and was dropped");
    return null;
  }
  const amount = amountOf(requested, model, generation, warn);
  const config = {
    ...amount,
    ...(requested.visible && amount["thinkingBudget"] !== 0 ? { includeThoughts: true } : {}),
  };
  return Object.keys(config).length === 0 ? null : config;
}

const thinkingSince = 2.5;
const levelsSince = 3;

const budgets: typeof thinkingBudgets = { ...thinkingBudgets, high: 24_576 };

function amountOf(requested: ReasoningRequest, model: string, generation: number | null, warn: Warn): JsonObject {
  if (generation !== null && generation >= levelsSince && requested.effort !== null) {
    return { thinkingLevel: levelOf(requested.effort, model, warn) };
  }
  const budget = requested.budgetTokens ?? (requested.effort === null ? null : budgets[requested.effort]);
  if (budget === null) return {};
  return { thinkingBudget: generation === thinkingSince ? budgetWithin(budget, requested, model, warn) : budget };
}

function levelOf(effort: Effort, model: string, warn: Warn): string {
  if (effort === "none") warn("thinking cannot be disabled on this model: the lowest level was used");
  return effortWithin(effort, model.includes("-pro") ? "low" : "minimal", "high").toUpperCase();
}

/** Gemini 2.5 refuses budgets outside its ranges. Source: Gemini API docs, "Thinking", table of budgets. */
function budgetWithin(budget: number, requested: ReasoningRequest, model: string, warn: Warn): number {
  const pro = model.includes("-pro");
  const most = pro ? 32_768 : 24_576;
  const least = pro ? 128 : model.includes("-lite") ? 512 : 1;
  if (budget === 0 && !pro) return 0;
  if (budget < least && (requested.effort === "none" || budget === 0)) {
    warn("thinking cannot be disabled on this model: the lowest budget was used");
  }
  if (budget > most && requested.budgetTokens !== null)
    warn(`the thinking budget was lowered to ${most}, the model's most`);
  return Math.min(most, Math.max(least, budget));
}

/** Includes the name before 2.0. */
export const searchNames: ReadonlySet<string> = new Set(["googleSearch", "googleSearchRetrieval"]);

export function readSearch(value: unknown, warn: Warn): SearchRequest {
  const search = camelKeys(value);
  warnOfUnsentMembers(search, searchMembers, "the tool googleSearch", warn);
  return { ...defaultSearch, blockedDomains: stringsIn(search["excludeDomains"]) };
}

const searchMembers: ReadonlySet<string> = new Set(["excludeDomains"]);

/**
 * Gemini refuses search together with functions, or requires parts back that other dialects lack. Source: Gemini API docs, "Combine
 * built-in tools and function calling".
 */
export function writeSearch({ search, tools }: Turn, warn: Warn): JsonObject[] {
  if (search === undefined) return [];
  if (tools.length > 0) {
    warn("web_search was dropped: the upstream does not combine it with functions");
    return [];
  }
  warnOfSearchParameters(search, noParameters, warn);
  return [{ googleSearch: {} }];
}

const noParameters: ReadonlySet<keyof SearchRequest> = new Set();
