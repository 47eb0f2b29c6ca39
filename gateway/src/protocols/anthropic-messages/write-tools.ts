import type { Turn, TurnTool } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { flatSchema } from "../turn/flat-schema.ts";
import { safeName } from "../turn/tool-calls.ts";
import { closedSchema } from "./closed-schema.ts";
import { type CacheControl, cacheControl } from "./write-block.ts";
import { choiceOf } from "./write-thinking.ts";

interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: JsonObject;
  readonly strict?: boolean;
  cache_control?: CacheControl;
}

export interface ToolsWritten {
  readonly tools: Tool[];
  readonly choice: JsonObject | null;
}

/** The tools of a request and the choice among them. */
export function writeTools(turn: Turn, target: TurnTarget, warn: Warn): ToolsWritten {
  if (turn.tools.length === 0) return onlyInHistory(turn, warn);
  const tools = turn.tools.map((tool) => writeTool(tool, target, warn));
  return { tools, choice: writeChoice(turn, target, warn) };
}

const nameLengthMax = 128;

function writeTool(tool: TurnTool, target: TurnTarget, warn: Warn): Tool {
  const name = safeName(tool.name);
  if (name.length > nameLengthMax) throw unsupported("tools", "A tool's name is too long for the upstream.");
  const strict = tool.strict === true && target.traits.noSchemaOutput !== true;
  const schema = flatSchema(tool.parameters, warn);
  return {
    name,
    ...(tool.description === null ? {} : { description: tool.description }),
    input_schema: strict ? closedSchema(schema) : schema,
    ...(strict ? { strict: true } : {}),
    ...cacheControl(tool.cache),
  };
}

function writeChoice(turn: Turn, target: TurnTarget, warn: Warn): JsonObject | null {
  const choice = choiceOf(turn, target.traits.reasoning ?? {}, warn);
  const single = turn.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  switch (choice?.kind) {
    case "none":
      return { type: "none" };
    case "any":
      return { type: "any", ...single };
    case "tool":
      return { type: "tool", name: safeName(choice.name), ...single };
    case "auto":
      return { type: "auto", ...single };
    default:
      return turn.parallelToolCalls === false ? { type: "auto", ...single } : null;
  }
}

/** A conversation that holds calls needs their tools declared, even when none may be called any more. */
function onlyInHistory(turn: Turn, warn: Warn): ToolsWritten {
  const parts = turn.messages.flatMap((message) => (message.role === "assistant" ? message.parts : []));
  const names = new Set(parts.flatMap((part) => (part.kind === "tool-call" ? [safeName(part.name)] : [])));
  if (names.size === 0) return { tools: [], choice: null };
  warn("the tools of earlier calls were declared again, not to be called");
  const tools = [...names].map((name) => ({ name, input_schema: { type: "object", properties: {} } }));
  return { tools, choice: { type: "none" } };
}
