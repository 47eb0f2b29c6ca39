import type { SearchRequest, ToolChoice, Turn, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, textOf, wrong } from "../json/value.ts";
import { plainName } from "../turn/warnings.ts";
import { camelKeys } from "./camel-keys.ts";
import { readSearch, searchNames } from "./google-search.ts";
import { toJsonSchema } from "./json-schema.ts";

/** Function declarations and how they may be used. The vendor's own tools exist only there. */
export function readTools(
  tools: unknown,
  toolConfig: unknown,
  warn: Warn,
): Pick<Turn, "tools" | "toolChoice" | "search"> {
  const declared: TurnTool[] = [];
  let search: SearchRequest | null = null;
  if (tools !== undefined && tools !== null && !Array.isArray(tools)) throw wrong("tools", "must be an array");
  for (const entry of arrayOf(tools)) {
    const tool = camelKeys(entry);
    for (const declaration of arrayOf(tool["functionDeclarations"])) declared.push(readTool(declaration, warn));
    for (const name of Object.keys(tool)) {
      if (searchNames.has(name)) search = readSearch(tool[name], warn);
      else if (name !== "functionDeclarations")
        warn(`the tool ${plainName(name)} exists at Gemini only and was left out`);
    }
  }
  const config = camelKeys(toolConfig);
  for (const name of Object.keys(config)) {
    if (name !== "functionCallingConfig") warn(`toolConfig.${plainName(name)} was left out`);
  }
  const chosen = withChoice(declared, camelKeys(config["functionCallingConfig"]), warn);
  return search === null ? chosen : { ...chosen, search };
}

function readTool(declaration: unknown, warn: Warn): TurnTool {
  const tool = camelKeys(declaration);
  const name = textOf(tool["name"]);
  if (name === null || name === "") throw wrong("tools", "must have names");
  if (tool["response"] !== undefined || tool["responseJsonSchema"] !== undefined) {
    warn("the schema of a tool's response is not understood by the upstream and was left out");
  }
  return {
    name,
    description: textOf(tool["description"]),
    parameters: parametersOf(tool),
    strict: null,
    cache: null,
  };
}

function parametersOf(tool: JsonObject): JsonObject | null {
  if (isObject(tool["parametersJsonSchema"])) return tool["parametersJsonSchema"];
  return isObject(tool["parameters"]) ? toJsonSchema(tool["parameters"]) : null;
}

function withChoice(tools: readonly TurnTool[], config: JsonObject, warn: Warn): Pick<Turn, "tools" | "toolChoice"> {
  const mode = textOf(config["mode"])?.toUpperCase() ?? "MODE_UNSPECIFIED";
  const allowed = arrayOf(config["allowedFunctionNames"]).filter((name) => typeof name === "string");
  if (config["streamFunctionCallArguments"] === true) {
    warn("streamFunctionCallArguments was left out: calls are sent whole");
  }
  if (mode === "VALIDATED") warn("the mode VALIDATED is treated as AUTO");
  const [only, ...others] = allowed;
  if (only !== undefined && others.length === 0 && mode === "ANY") {
    return { tools, toolChoice: { kind: "tool", name: only } };
  }
  const offered = allowed.length === 0 ? tools : tools.filter((tool) => allowed.includes(tool.name));
  if (offered.length < tools.length) warn("only the functions in allowedFunctionNames were offered to the upstream");
  return { tools: offered, toolChoice: choiceOf(mode) };
}

function choiceOf(mode: string): ToolChoice | null {
  switch (mode) {
    case "AUTO":
    case "VALIDATED":
      return { kind: "auto" };
    case "ANY":
      return { kind: "any" };
    case "NONE":
      return { kind: "none" };
    case "MODE_UNSPECIFIED":
      return null;
    default:
      throw wrong("toolConfig", "must have the mode AUTO, ANY, NONE or VALIDATED");
  }
}
