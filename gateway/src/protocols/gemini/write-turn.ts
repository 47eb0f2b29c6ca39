import type { ToolChoice, Turn } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, missing } from "../json/value.ts";
import { warnOnce } from "../turn/warnings.ts";
import { writeSearch } from "./google-search.ts";
import { writeToolName } from "./tool-name.ts";
import { type GeminiContent, writeContents } from "./write-contents.ts";
import { formatInWords, writeGeneration } from "./write-generation.ts";

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
  if (google === undefined) return {};
  const { cachedContent, safetySettings } = google;
  return {
    ...(cachedContent === null ? {} : { cachedContent }),
    ...(safetySettings.length === 0 ? {} : { safetySettings }),
  };
}

/** Contents must not be empty: instructions that stand alone are what the user says. */
function withSystem(system: readonly JsonObject[], contents: readonly GeminiContent[], warn: Warn): JsonObject {
  if (contents.length > 0)
    return system.length === 0 ? { contents } : { systemInstruction: { parts: system }, contents };
  if (system.length === 0) throw missing("messages");
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

/** `tools` and `toolConfig`, as members of the request's body. */
function writeTools(turn: Turn, warn: Warn): JsonObject {
  const searching = writeSearch(turn, warn);
  if (turn.tools.length === 0) return searching.length === 0 ? {} : { tools: searching };
  if (turn.parallelToolCalls === false) {
    warn("parallel tool calls cannot be forbidden at the upstream; the wish was left out");
  }
  if (turn.tools.some((tool) => tool.strict === true)) {
    warn("strict tools are not known to the upstream; their arguments may not match the schema");
  }
  const functionDeclarations = turn.tools.map((tool) => ({
    name: writeToolName(tool.name),
    ...(tool.description === null ? {} : { description: tool.description }),
    ...(tool.parameters === null ? {} : { parametersJsonSchema: tool.parameters }),
  }));
  const config =
    turn.toolChoice === null ? {} : { toolConfig: { functionCallingConfig: writeChoice(turn.toolChoice) } };
  return { tools: [{ functionDeclarations }], ...config };
}

function writeChoice(choice: ToolChoice): JsonObject {
  switch (choice.kind) {
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "any":
      return { mode: "ANY" };
    case "tool":
      return { mode: "ANY", allowedFunctionNames: [writeToolName(choice.name)] };
  }
}
