import type { ToolChoice, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import {
  arrayMember,
  arrayOf,
  booleanOf,
  isObject,
  type JsonObject,
  missing,
  objectOf,
  requireName,
  textOf,
  wrong,
} from "../json/value.ts";
import { plainName } from "../turn/warnings.ts";
import { customTool } from "./custom-tool.ts";
import { readCacheHint } from "./read-parts.ts";

export interface Toolbox {
  readonly tools: readonly TurnTool[];
  readonly toolChoice: ToolChoice | null;
}

/** `tools` and `tool_choice`, and their forerunners `functions` and `function_call`. */
export function readToolbox(request: JsonObject, warn: Warn): Toolbox {
  const tools: TurnTool[] = [];
  (arrayMember(request, "tools") ?? []).forEach((tool, index) => {
    const read = readTool(tool, `tools[${index}]`, warn);
    if (read !== null) tools.push(read);
  });
  (arrayMember(request, "functions") ?? []).forEach((tool, index) => {
    tools.push(readFunction(tool, `functions[${index}]`));
  });
  const choice = request["tool_choice"] ?? request["function_call"] ?? null;
  if (isObject(choice) && choice["type"] === "allowed_tools") return allowOnly(choice, tools, warn);
  return { tools, toolChoice: readChoice(choice) };
}

function readTool(value: unknown, param: string, warn: Warn): TurnTool | null {
  const tool = objectOf(value);
  const type = textOf(tool["type"]);
  if (type === "custom") return readCustom(objectOf(tool["custom"]), param, warn);
  if (type === "function" || (type === null && isObject(tool["function"]))) {
    return { ...readFunction(tool["function"], `${param}.function`), cache: readCacheHint(tool) };
  }
  if (type === null) throw missing(`${param}.type`);
  warn(`the tool type ${plainName(type)} is not understood by the upstream and was left out`);
  return null;
}

function readFunction(value: unknown, param: string): TurnTool {
  const declared = objectOf(value);
  const parameters = declared["parameters"] ?? null;
  if (parameters !== null && !isObject(parameters)) throw wrong(`${param}.parameters`, "must be an object");
  return {
    name: requireName(declared["name"], `${param}.name`),
    description: textOf(declared["description"]),
    parameters,
    strict: booleanOf(declared["strict"]),
    cache: null,
  };
}

function readCustom(custom: JsonObject, param: string, warn: Warn): TurnTool {
  if (objectOf(custom["format"])["type"] === "grammar") {
    warn("the grammar of a custom tool is not understood by the upstream and was left out");
  }
  return customTool(requireName(custom["name"], `${param}.custom.name`), textOf(custom["description"]));
}

function readChoice(choice: unknown): ToolChoice | null {
  switch (choice) {
    case null:
      return null;
    case "auto":
    case "none":
      return { kind: choice };
    case "required":
    case "any":
      return { kind: "any" };
    default: {
      const name = isObject(choice) ? chosenName(choice) : null;
      if (name === null) throw wrong("tool_choice", "is not a choice that is known");
      return { kind: "tool", name };
    }
  }
}

/** The name in `{"type":"function","function":{"name"}}`, its custom twin, or the old `{"name"}`. */
function chosenName(choice: JsonObject): string | null {
  const inner = choice["function"] ?? choice["custom"] ?? choice;
  return textOf(objectOf(inner)["name"]);
}

/** Nobody else has a list of allowed tools: the others are not offered at all. */
function allowOnly(choice: JsonObject, tools: readonly TurnTool[], warn: Warn): Toolbox {
  const allowed = objectOf(choice["allowed_tools"]);
  const names = new Set(arrayOf(allowed["tools"]).map((tool) => chosenName(objectOf(tool))));
  const offered = tools.filter((tool) => names.has(tool.name));
  if (offered.length < tools.length) {
    warn("allowed_tools is not understood by the upstream: the other tools were left out");
  }
  return { tools: offered, toolChoice: { kind: allowed["mode"] === "required" ? "any" : "auto" } };
}
