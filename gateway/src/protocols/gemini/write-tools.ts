import type { ToolChoice, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import type { JsonObject } from "../json-value.ts";
import { writeSearch } from "./google-search.ts";
import { writeToolName } from "./tool-name.ts";

/** `tools` and `toolConfig`, as members of the request's body. */
export function writeTools(turn: Turn, warn: Warn): JsonObject {
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
