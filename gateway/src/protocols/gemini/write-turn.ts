import type { ReasoningRequest, SearchRequest, ToolChoice, Turn } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, missingParam, unsupported, withoutNulls } from "../json/value.ts";
import { type Effort, effortWithin, thinkingBudgets } from "../turn/reasoning-traits.ts";
import { defaultSearch, stringsIn, warnOfSearchParameters } from "../turn/search-request.ts";
import { warnOfUnsentMembers, warnOnce } from "../turn/warnings.ts";
import { generationOf, writeToolName } from "./encodings.ts";
import { camelKeys } from "./protobuf-json.ts";
import { writeContents } from "./write-contents.ts";

/**
 * A turn as the body of a generateContent request. The model and whether it streams are in the path. Cache hints, the
 * user's id and metadata have no place there and change nothing of the answer.
 */
export function writeGeminiTurn(turn: Turn, target: TurnTarget, warn: Warn): Uint8Array {
  const warned = warnOnce(warn);
  const contents = writeContents(turn.messages, target, warned);
  const system = turn.system.filter((part) => part.text !== "").map((part): JsonObject => ({ text: part.text }));
  const format = formatInWords(turn, target);
  if (format !== null) {
    warned("the format of the answer was asked for in the instructions: the model takes none beside functions");
    system.push({ text: format });
  }
  const generationConfig = writeGeneration(turn, target, warned);
  const body = {
    ...withSystem(system, contents, warned),
    ...writeTools(turn, warned),
    ...(generationConfig === null ? {} : { generationConfig }),
    ...serviceTier(turn.serviceTier, warned),
    ...writeExtras(turn),
  };
  return encoder.encode(JSON.stringify(body));
}

function writeExtras({ google }: Turn): JsonObject {
  const { cachedContent = null, safetySettings = [] } = google ?? {};
  return withoutNulls({ cachedContent, safetySettings: safetySettings.length === 0 ? null : safetySettings });
}

/** Contents must not be empty: instructions that stand alone are what the user says. */
function withSystem(system: readonly JsonObject[], contents: readonly JsonObject[], warn: Warn): JsonObject {
  if (contents.length > 0)
    return system.length === 0 ? { contents } : { systemInstruction: { parts: system }, contents };
  if (system.length === 0) throw missingParam("messages");
  warn("instructions without a conversation were sent as user text");
  return { contents: [{ role: "user", parts: system }] };
}

const tiers: ReadonlySet<string> = new Set(["standard", "flex", "priority"]);
/** Words of other vendors for what is done without being asked. */
const usualTiers: ReadonlySet<string> = new Set(["auto", "default", "unspecified"]);

function serviceTier(tier: string | null, warn: Warn): JsonObject {
  if (tier === null || usualTiers.has(tier)) return {};
  if (tiers.has(tier)) return { serviceTier: tier };
  warn("the service tier is not known to the upstream and was left out");
  return {};
}

const encoder = new TextEncoder();

function writeTools(turn: Turn, warn: Warn): JsonObject {
  const searching = writeSearch(turn, warn);
  if (turn.tools.length === 0) return searching.length === 0 ? {} : { tools: searching };
  if (turn.parallelToolCalls === false) {
    warn("parallel tool calls cannot be forbidden at the upstream; the wish was left out");
  }
  if (turn.tools.some((tool) => tool.strict === true)) {
    warn("strict tools are not known to the upstream; their arguments may not match the schema");
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

/** What of a turn governs generation; null when it says nothing. */
function writeGeneration(turn: Turn, target: TurnTarget, warn: Warn): JsonObject | null {
  if (turn.choices > 1) throw unsupported("n", "The upstream can be asked for one answer at a time only.");
  if (turn.verbosity !== null) warn("verbosity is not understood by the upstream and was left out");
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

/** The vendor's seed has 32 bits. */
function seedOf(seed: number | null, warn: Warn): number | null {
  if (seed === null || (Number.isInteger(seed) && Math.abs(seed) <= seedMax)) return seed;
  warn("seed is too large for the upstream and was left out");
  return null;
}

function stopSequences(stop: readonly string[], warn: Warn): readonly string[] | null {
  const sequences = stop.filter((sequence) => sequence !== "");
  if (sequences.length > stopSequencesMax) {
    warn(`the upstream takes ${stopSequencesMax} stop sequences; the others were left out`);
  }
  return sequences.length === 0 ? null : sequences.slice(0, stopSequencesMax);
}

function writeFormat(turn: Turn, target: TurnTarget, warn: Warn): JsonObject {
  const { format } = turn;
  if (format === null || format.kind === "text" || formatInWords(turn, target) !== null) return {};
  const responseMimeType = "application/json";
  if (format.kind === "json") return { responseMimeType };
  if (target.traits.noSchemaOutput !== true) return { responseMimeType, responseJsonSchema: format.schema };
  warn("the schema of the answer is not understood by the upstream; JSON was asked for in its place");
  return { responseMimeType };
}

/**
 * What the instructions must say of the answer's format, because the request cannot: models before Gemini 3 refuse JSON beside
 * functions ("Function calling with a response mime type: 'application/json' is unsupported"). null: nothing.
 */
function formatInWords({ format, tools }: Turn, { upstreamModel }: TurnTarget): string | null {
  if (format === null || format.kind === "text" || tools.length === 0) return null;
  if ((generationOf(upstreamModel) ?? jsonBesideFunctionsSince) >= jsonBesideFunctionsSince) return null;
  const instruction = "Once you call no more functions, answer with one JSON object and nothing else.";
  if (format.kind === "json") return instruction;
  return `${instruction} It must fit this JSON Schema:\n${JSON.stringify(format.schema)}`;
}

const jsonBesideFunctionsSince = 3;

/**
 * The wish to think as a thinkingConfig; null when nothing is to be said. A level and a budget together are refused by
 * the vendor: models from Gemini 3 on get a level for an effort, all others a budget.
 */
function writeThinking(requested: ReasoningRequest | null, model: string, warn: Warn): JsonObject | null {
  if (requested === null) return null;
  const generation = generationOf(model);
  if (generation !== null && generation < thinkingSince) {
    if (requested.effort !== "none") warn("thinking is not understood by this model and was left out");
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

/** Tokens to think for each effort. */
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
  if (effort === "none") warn("thinking cannot be switched off on this model; the lowest level was asked for");
  return effortWithin(effort, model.includes("-pro") ? "low" : "minimal", "high").toUpperCase();
}

/** Gemini 2.5 refuses budgets outside its ranges. Source: Gemini API docs, "Thinking", table of budgets. */
function budgetWithin(budget: number, requested: ReasoningRequest, model: string, warn: Warn): number {
  const pro = model.includes("-pro");
  const most = pro ? 32_768 : 24_576;
  const least = pro ? 128 : model.includes("-lite") ? 512 : 1;
  if (budget === 0 && !pro) return 0;
  if (budget < least && (requested.effort === "none" || budget === 0)) {
    warn("thinking cannot be switched off on this model; the lowest budget was asked for");
  }
  if (budget > most && requested.budgetTokens !== null)
    warn(`the thinking budget was lowered to ${most}, the model's most`);
  return Math.min(most, Math.max(least, budget));
}

/** The names of Google's search among the members of a tool, the one before 2.0 too. */
export const searchNames: ReadonlySet<string> = new Set(["googleSearch", "googleSearchRetrieval"]);

export function readSearch(value: unknown, warn: Warn): SearchRequest {
  const search = camelKeys(value);
  warnOfUnsentMembers(search, searchMembers, "the tool googleSearch", warn);
  return { ...defaultSearch, blockedDomains: stringsIn(search["excludeDomains"]) };
}

const searchMembers: ReadonlySet<string> = new Set(["excludeDomains"]);

/**
 * Google's search as a tool. Beside functions it is refused, or wants parts back that no other dialect has a place for: it is
 * left out then. Source: Gemini API docs, "Grounding with Google Search", "Combine built-in tools and function calling".
 */
function writeSearch({ search, tools }: Turn, warn: Warn): JsonObject[] {
  if (search === undefined) return [];
  if (tools.length > 0) {
    warn("web_search was left out: the upstream does not search beside functions");
    return [];
  }
  warnOfSearchParameters(search, noParameters, warn);
  return [{ googleSearch: {} }];
}

const noParameters: ReadonlySet<keyof SearchRequest> = new Set();
