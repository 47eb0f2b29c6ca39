import type { ToolChoice, Turn, TurnTool } from "#core/index.ts";
import { closedSchema } from "../anthropic-messages/closed-schema.ts";
import type { Warn } from "../codec.ts";
import type { JsonObject } from "../json/value.ts";
import { flatSchema } from "../turn/flat-schema.ts";
import { shortToolName } from "../turn/tool-calls.ts";
import { type ModelFamily, writeCachePoint } from "./model-family.ts";

/**
 * Tools and the choice among them. Converse knows no choice of none: the tools are left out then. It refuses a
 * conversation with calls but without tools, so those that were called are named at least.
 */
export function writeTools(turn: Turn, family: ModelFamily, warn: Warn): JsonObject {
  const called = calledNames(turn);
  const forbidden = turn.toolChoice?.kind === "none";
  if (forbidden && called.size === 0) return {};
  if (turn.tools.length === 0 && called.size === 0) {
    if (turn.toolChoice?.kind === "any" || turn.toolChoice?.kind === "tool")
      warn("tool_choice without tools was left out");
    return {};
  }
  if (forbidden) warn("the upstream cannot be kept from calling tools: the conversation holds calls already");
  const known = new Set(turn.tools.map((tool) => tool.name));
  const missing = turn.tools.length > 0 ? [] : [...called].filter((name) => !known.has(name)).map(bareTool);
  const tools = [...turn.tools.flatMap((tool) => writeTool(tool, family, warn)), ...missing];
  return { tools, toolChoice: forbidden || turn.tools.length === 0 ? undefined : writeChoice(turn.toolChoice) };
}

function calledNames(turn: Turn): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { parts } of turn.messages) {
    for (const part of parts) if (part.kind === "tool-call") names.add(part.name);
  }
  return names;
}

function writeTool(tool: TurnTool, family: ModelFamily, warn: Warn): JsonObject[] {
  const { description, parameters, strict, cache } = tool;
  const schema = flatSchema(parameters, warn);
  const toolSpec = {
    name: shortToolName(tool.name),
    // An empty description is refused.
    ...(description === null || description === "" ? {} : { description }),
    inputSchema: { json: strict === true && family === "claude" ? closedSchema(schema) : schema },
    ...(strict === true ? { strict } : {}),
  };
  return [{ toolSpec }, ...writeCachePoint(cache, family)];
}

function bareTool(name: string): JsonObject {
  return { toolSpec: { name: shortToolName(name), inputSchema: { json: { type: "object" } } } };
}

function writeChoice(choice: ToolChoice | null): JsonObject | undefined {
  switch (choice?.kind) {
    case "auto":
      return { auto: {} };
    case "any":
      return { any: {} };
    case "tool":
      return { tool: { name: shortToolName(choice.name) } };
    default:
      return undefined;
  }
}
