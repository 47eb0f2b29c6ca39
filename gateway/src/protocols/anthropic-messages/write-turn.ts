import type { CacheHint, SearchRequest, TextPart, Turn, TurnTool } from "#core/index.ts";
import type { DialectTraits, TurnTarget, Warn } from "../codec.ts";
import {
  arrayOf,
  countOf,
  invalid,
  isObject,
  type JsonObject,
  jsonBytes,
  textOf,
  unsupported,
  withoutNulls,
} from "../json/value.ts";
import { fitToolChoice } from "../turn/reasoning.ts";
import { closedSchema, flatSchema } from "../turn/schemas.ts";
import {
  defaultSearch,
  readLocation,
  stringsIn,
  warnOfSearchParameters,
  writeLocation,
} from "../turn/search-request.ts";
import { jsonInstruction, warnOfUnsupported, writeTier } from "../turn/settings.ts";
import { encodeName } from "../turn/tool-calls.ts";
import { warnOfUnsentMembers } from "../turn/warnings.ts";
import {
  type Block,
  type CacheControl,
  cacheControl,
  isThinking,
  type Message,
  textBlocks,
  writeMessages,
} from "./write-messages.ts";
import { planThinking } from "./write-thinking.ts";

/** Throws Failure unsupported_by_model if dropping something would change the answer. */
export function writeMessagesTurn(turn: Turn, target: TurnTarget, warn: Warn): Uint8Array {
  if (turn.choices > 1) throw unsupported("n", "The upstream returns only one answer.");
  const lacking = ["pictures", "google", "seed", "presencePenalty", "frequencyPenalty", "verbosity"] as const;
  // Dropping a default value changes nothing, so it causes no warning.
  const { presencePenalty, frequencyPenalty, verbosity } = turn;
  const penalties = { presencePenalty: presencePenalty || null, frequencyPenalty: frequencyPenalty || null };
  warnOfUnsupported({ ...turn, ...penalties, verbosity: verbosity === "medium" ? null : verbosity }, lacking, warn);
  const { system, messages } = writePrompt(turn, target, warn);
  const { tools, choice } = writeTools(turn, target, warn);
  const searching = writeWebSearch(turn, target.traits, warn);
  const plan = planThinking(turn, target, messages, warn);
  const history = plan.thinking?.["type"] === "disabled" ? messages.map(withoutThinking) : messages;
  const { format, instruction } = writeFormat(turn, target, warn);
  system.push(...instruction);
  settleCacheMarks(
    { tools, system, messages: history },
    turn.autoCache ?? (target.traits.cacheMarks === true ? { ttl: null } : null),
    warn,
  );
  const config = withoutNulls({ effort: plan.effort, format });
  const body = withoutNulls({
    model: target.upstreamModel,
    max_tokens: plan.maxTokens,
    system: system.length === 0 ? null : system,
    messages: history,
    tools: tools.length + searching.length === 0 ? null : [...tools, ...searching],
    tool_choice: choice,
    thinking: boundThinking(plan.thinking, history, target),
    output_config: Object.keys(config).length === 0 ? null : config,
    ...writeSampling(turn, target, thinks(plan.thinking), warn),
    ...writeStop(turn, warn),
    ...writeUser(turn, warn),
    service_tier: writeTier(turn.serviceTier, tiers, warn),
    stream: turn.stream || null,
  });
  return jsonBytes(body);
}

/** Leading system messages join the instructions. */
function writePrompt(turn: Turn, target: TurnTarget, warn: Warn): { system: Block[]; messages: Message[] } {
  const first = turn.messages.findIndex((message) => message.role !== "system");
  const head = first === -1 ? turn.messages.length : first;
  const leading = turn.messages.slice(0, head).flatMap((message) => message.parts);
  const texts = [...turn.system, ...leading].filter((part): part is TextPart => part.kind === "text");
  const system = texts.flatMap((part) => textBlocks(part.text, part.cache));
  const messages = writeMessages(turn.messages.slice(head), { target, warn });
  if (messages.length > 0) return { system, messages };
  if (system.length === 0) throw invalid("messages", "contain nothing to answer");
  warn("the instructions were sent as a user message: there was no other");
  return { system: [], messages: [{ role: "user", content: system }] };
}

/**
 * Tools and instructions may change between turns. Where Claude binds thinking to them, it has to drop blocks that no longer fit.
 * Source: platform.claude.com, "Preserved thinking".
 */
function boundThinking(
  thinking: JsonObject | null,
  history: readonly Message[],
  { traits }: TurnTarget,
): JsonObject | null {
  if (traits.dropsMovedThoughts !== true || traits.reasoning?.bindsThoughts !== true) return thinking;
  if (!history.some(({ content }) => content.some(isThinking))) return thinking;
  // Models that always think use adaptive thinking if nothing is set.
  const sent = thinking ?? (traits.reasoning.always === true ? { type: "adaptive" } : null);
  if (!thinks(sent)) return thinking;
  return { ...sent, block_binding: { prefix_mismatch_behavior: "drop_block" } };
}

function thinks(thinking: JsonObject | null): boolean {
  return thinking?.["type"] === "adaptive" || thinking?.["type"] === "enabled";
}

function withoutThinking({ role, content }: Message): Message {
  return { role, content: content.filter((block) => !isThinking(block)) };
}

function writeFormat(
  turn: Turn,
  target: TurnTarget,
  warn: Warn,
): { readonly format: JsonObject | null; readonly instruction: Block[] } {
  const { format } = turn;
  if (format === null || format.kind === "text") return { format: null, instruction: [] };
  if (format.kind === "json") {
    warn("the upstream has no JSON mode: JSON was requested in the instructions");
    return { format: null, instruction: textBlocks(jsonInstruction(format)) };
  }
  if (target.traits.noSchemaOutput === true) {
    warn("the schema of the answer is not supported by the upstream and was put into the instructions");
    return { format: null, instruction: textBlocks(jsonInstruction(format)) };
  }
  const schema = closedSchema(format.schema);
  if (JSON.stringify(schema) !== JSON.stringify(format.schema)) {
    warn("the answer's schema was adapted: objects were closed, unsupported keywords moved to descriptions");
  }
  return { format: { type: "json_schema", schema }, instruction: [] };
}

function writeStop(turn: Turn, warn: Warn): JsonObject {
  const sequences = turn.stop.filter((sequence) => sequence.trim() !== "");
  if (sequences.length < turn.stop.length) warn("stop sequences of white space were dropped");
  return sequences.length === 0 ? {} : { stop_sequences: sequences };
}

const userIdLengthMax = 512;

function writeUser(turn: Turn, warn: Warn): JsonObject {
  if (turn.userId === null || turn.userId === "") return {};
  if (turn.userId.length <= userIdLengthMax) return { metadata: { user_id: turn.userId } };
  warn("the user id is too long for the upstream and was dropped");
  return {};
}

/** Keys are the names of the neutral form. */
const tiers: Readonly<Record<string, string>> = {
  auto: "auto",
  priority: "auto",
  default: "standard_only",
  standard: "standard_only",
};

interface Markable {
  cache_control?: CacheControl;
}

type Tool = Markable & JsonObject;

const marksMax = 4;

/**
 * Keeps at most four cache marks and puts one-hour marks before five-minute ones. `auto` sets marks where the next call finds the same
 * prefix. Nothing is marked without a request, because writing a cache costs more than reading input.
 */
export function settleCacheMarks(
  prompt: { readonly tools: readonly Markable[]; readonly system: readonly Markable[]; readonly messages: Message[] },
  auto: CacheHint | null,
  warn: Warn,
): void {
  const { tools, system, messages } = prompt;
  const holders: Markable[] = [...tools, ...system, ...messages.flatMap((message) => message.content)];
  const marked = holders.filter((holder) => holder.cache_control !== undefined);
  if (marked.length === 0) {
    if (auto !== null) for (const holder of autoMarked(prompt)) Object.assign(holder, cacheControl(auto));
    return;
  }
  // Later marks cover earlier content, so the earliest are dropped.
  for (const holder of marked.splice(0, Math.max(0, marked.length - marksMax))) {
    warn("more than four cache breakpoints: the earliest were dropped");
    delete holder.cache_control;
  }
  let short = false;
  for (const holder of marked) {
    if (holder.cache_control?.ttl !== "1h") short = true;
    else if (short) {
      warn("a cache breakpoint of one hour after one of five minutes was shortened");
      holder.cache_control = { type: "ephemeral" };
    }
  }
}

function autoMarked({ tools, system, messages }: Parameters<typeof settleCacheMarks>[0]): readonly Markable[] {
  const lastUserBlock = messages.findLast((message) => message.role === "user")?.content.at(-1);
  return [tools.at(-1), system.at(-1), lastUserBlock].flatMap((holder) => holder ?? []);
}

function writeSampling(turn: Turn, target: TurnTarget, thinking: boolean, warn: Warn): JsonObject {
  const { topK } = turn;
  const { temperature, topP } = temperatureOrTopP(turn, target, warn);
  if (temperature === null && topP === null && topK === null) return {};
  if (target.traits.refusesSampling === true) {
    warn("temperature, top_p and top_k are refused by the upstream and were dropped");
    return {};
  }
  if (thinking) {
    // Thinking always uses temperature 1.
    if (temperature !== 1 || topP !== null || topK !== null) {
      warn("temperature, top_p and top_k cannot be set together with thinking and were dropped");
    }
    return {};
  }
  if (temperature !== null && temperature > 1) warn("temperature was lowered to 1, the upstream's highest");
  return withoutNulls({
    temperature: temperature === null ? null : Math.min(1, temperature),
    top_p: topP,
    top_k: topK,
  });
}

/** Claude refuses temperature and top_p together. A default of 1 is dropped first. */
function temperatureOrTopP(turn: Turn, target: TurnTarget, warn: Warn): Pick<Turn, "temperature" | "topP"> {
  const { temperature, topP } = turn;
  if (temperature === null || topP === null || !target.upstreamModel.includes("claude")) return { temperature, topP };
  if (topP === 1) return { temperature, topP: null };
  if (temperature === 1) return { temperature: null, topP };
  warn("top_p cannot be set together with temperature and was dropped");
  return { temperature, topP: null };
}

function writeTools(turn: Turn, target: TurnTarget, warn: Warn): { tools: Tool[]; choice: JsonObject | null } {
  if (turn.tools.length === 0) return toolsInHistory(turn, warn);
  const tools = turn.tools.map((tool) => writeTool(tool, target, warn));
  return { tools, choice: writeChoice(turn, target, warn) };
}

const nameLengthMax = 128;

function writeTool(tool: TurnTool, target: TurnTarget, warn: Warn): Tool {
  const name = encodeName(tool.name);
  if (name.length > nameLengthMax) throw unsupported("tools", "A tool's name is too long for the upstream.");
  const strict = tool.strict === true && target.traits.noSchemaOutput !== true;
  const schema = flatSchema(tool.parameters, warn);
  const { description } = tool;
  const input_schema = strict ? closedSchema(schema) : schema;
  return { ...withoutNulls({ name, description, input_schema, strict: strict || null }), ...cacheControl(tool.cache) };
}

function writeChoice(turn: Turn, target: TurnTarget, warn: Warn): JsonObject | null {
  const choice = fitToolChoice(turn, target.traits.reasoning ?? {}, warn);
  const single = turn.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (choice === null) return turn.parallelToolCalls === false ? { type: "auto", ...single } : null;
  const name = choice.kind === "tool" ? { name: encodeName(choice.name) } : {};
  return { type: choice.kind, ...name, ...(choice.kind === "none" ? {} : single) };
}

/** Tools of earlier calls must be declared. */
function toolsInHistory(turn: Turn, warn: Warn): { tools: Tool[]; choice: JsonObject | null } {
  const parts = turn.messages.flatMap((message) => (message.role === "assistant" ? message.parts : []));
  const names = new Set(parts.flatMap((part) => (part.kind === "tool-call" ? [encodeName(part.name)] : [])));
  if (names.size === 0) return { tools: [], choice: null };
  warn("the tools of earlier calls were declared, but may not be called");
  const tools = [...names].map((name) => ({ name, input_schema: { type: "object", properties: {} } }));
  return { tools, choice: { type: "none" } };
}

export function isWebSearch(type: unknown): boolean {
  return (textOf(type) ?? "").startsWith("web_search_");
}

export function readWebSearch(tools: unknown, warn: Warn): SearchRequest | null {
  const tool = arrayOf(tools).find((one) => isObject(one) && isWebSearch(one["type"]));
  if (!isObject(tool)) return null;
  warnOfUnsentMembers(tool, searchMembers, "the tool web_search", warn);
  return {
    ...defaultSearch,
    usesMax: countOf(tool["max_uses"]),
    allowedDomains: stringsIn(tool["allowed_domains"]),
    blockedDomains: stringsIn(tool["blocked_domains"]),
    location: readLocation(tool["user_location"], "the tool web_search", warn),
  };
}

const searchMembers: ReadonlySet<string> = new Set([
  ...["type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location", "cache_control"],
]);

/** The oldest version works with every model. Source: Anthropic's docs, "Web search tool". */
const searchType = "web_search_20250305";
const searchName = "web_search";

function writeWebSearch(turn: Turn, traits: DialectTraits, warn: Warn): JsonObject[] {
  const { search } = turn;
  if (search === undefined) return [];
  if (traits.noWebSearch === true) {
    warnOfUnsupported(turn, ["search"], warn);
    return [];
  }
  if (turn.tools.some((tool) => tool.name === searchName)) {
    warn("web_search was dropped: one of the caller's tools has this name");
    return [];
  }
  const allowed = search.allowedDomains.length > 0;
  // The lists exclude each other.
  warnOfSearchParameters(search, allowed ? sentWhenAllowing : sentWhenBlocking, warn);
  return [
    withoutNulls({
      type: searchType,
      name: searchName,
      max_uses: search.usesMax,
      allowed_domains: allowed ? search.allowedDomains : null,
      blocked_domains: !allowed && search.blockedDomains.length > 0 ? search.blockedDomains : null,
      user_location: search.location === null ? null : writeLocation(search.location),
    }),
  ];
}

const sentWhenAllowing: ReadonlySet<keyof SearchRequest> = new Set(["usesMax", "allowedDomains", "location"]);
const sentWhenBlocking: ReadonlySet<keyof SearchRequest> = new Set(["usesMax", "blockedDomains", "location"]);
