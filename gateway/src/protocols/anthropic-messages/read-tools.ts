import type { SearchRequest, ToolChoice, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayMember, arrayOf, booleanOf, isObject, type JsonObject, objectOf, textOf, wrong } from "../json/value.ts";
import { warnOfUnasked } from "../turn/warnings.ts";
import { readCache } from "./read-media.ts";
import { isWebSearch, readWebSearch } from "./web-search.ts";

export interface ToolsRead {
  readonly tools: readonly TurnTool[];
  readonly toolChoice: ToolChoice | null;
  readonly parallelToolCalls: boolean | null;
  readonly search?: SearchRequest;
}

/** The tools of a messages request and how they are to be chosen. */
export function readTools(request: JsonObject, warn: Warn): ToolsRead {
  const tools = (arrayMember(request, "tools") ?? []).flatMap((tool, index) => readTool(tool, `tools.${index}`, warn));
  const choice = objectOf(request["tool_choice"]);
  const search = readWebSearch(request["tools"], warn);
  const disabled = booleanOf(choice["disable_parallel_tool_use"]);
  return {
    tools,
    toolChoice: readChoice(choice, tools, warn),
    parallelToolCalls: disabled === null ? null : !disabled,
    ...(search === null ? {} : { search }),
  };
}

function readTool(tool: unknown, param: string, warn: Warn): TurnTool[] {
  if (!isObject(tool)) throw wrong(param, "must be an object");
  const type = tool["type"] ?? "custom";
  // Read as a wish of the whole turn.
  if (isWebSearch(type)) return [];
  if (type !== "custom") {
    // Anthropic's own tools have no schema in the request: their models know them, other vendors' do not.
    const named = typeof type === "string" && /^[a-z0-9_]{1,64}$/.test(type) ? `the tool ${type}` : "a typed tool";
    warn(`${named} is not understood by the upstream and was left out`);
    return [];
  }
  const name = textOf(tool["name"]);
  if (name === null) throw wrong(`${param}.name`, "must be a string");
  const schema = tool["input_schema"] ?? null;
  if (schema !== null && !isObject(schema)) throw wrong(`${param}.input_schema`, "must be an object");
  warnOfUnasked(tool, ofFunction, "a tool", warn);
  const callers = arrayOf(tool["allowed_callers"]);
  if (callers.some((caller) => caller !== "direct")) {
    warn("allowed_callers of a tool is not understood by the upstream and was left out");
  }
  return [
    {
      name,
      description: textOf(tool["description"]),
      parameters: schema,
      strict: booleanOf(tool["strict"]),
      cache: readCache(tool),
    },
  ];
}

/** Arguments stream as they come everywhere. */
const ofFunction: ReadonlySet<string> = new Set([
  ...["type", "name", "description", "input_schema", "strict", "cache_control"],
  ...["allowed_callers", "eager_input_streaming"],
]);

function readChoice(choice: JsonObject, tools: readonly TurnTool[], warn: Warn): ToolChoice | null {
  const type = choice["type"] ?? null;
  if (type === null || type === "auto" || type === "none") return type === null ? null : { kind: type };
  if (type === "any") {
    if (tools.length > 0) return { kind: "any" };
    warn("tool_choice was left out: none of its tools is understood by the upstream");
    return null;
  }
  if (type !== "tool") throw wrong("tool_choice.type", "must be auto, any, tool or none");
  const name = textOf(choice["name"]);
  if (name === null) throw wrong("tool_choice.name", "must be a string");
  if (tools.some((tool) => tool.name === name)) return { kind: "tool", name };
  warn("tool_choice was left out: its tool is not understood by the upstream");
  return null;
}
