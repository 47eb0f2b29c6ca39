import type { TurnTool } from "#core/index.ts";
import { type JsonObject, objectOf, parseObject, textOf } from "../json/value.ts";

/**
 * A tool out of a `namespace` tool. Elsewhere it is an ordinary tool under a joined name; that it has these two
 * members beside is how the writer of the answer finds its way back to namespace and name.
 */
export interface NamespacedTool extends TurnTool {
  readonly namespace: string;
  readonly ownName: string;
}

export function isNamespaced(tool: TurnTool): tool is NamespacedTool {
  return "namespace" in tool && "ownName" in tool;
}

/** `mcp__files__` and `read` make `mcp__files__read`; `files` and `read` make `files__read`. */
export function joinedName(namespace: string, name: string): string {
  return namespace.endsWith("__") ? namespace + name : `${namespace}__${name}`;
}

/** The tools of a turn as the Responses API lists them, namespaces put together again. */
export function groupByNamespace(
  tools: readonly TurnTool[],
  write: (tool: TurnTool, name: string) => JsonObject,
): JsonObject[] {
  const written: JsonObject[] = [];
  const spaces = new Map<string, JsonObject[]>();
  for (const tool of tools) {
    if (!isNamespaced(tool)) {
      written.push(write(tool, tool.name));
      continue;
    }
    let members = spaces.get(tool.namespace);
    if (members === undefined) {
      members = [];
      spaces.set(tool.namespace, members);
      written.push({ type: "namespace", name: tool.namespace, description: "", tools: members });
    }
    members.push(write(tool, tool.ownName));
  }
  return written;
}

/**
 * OpenAI's `tool_search` that the caller runs itself: Codex finds the tools of its MCP servers so. Elsewhere it is an ordinary
 * tool of this name. That it has this member beside is how the writer of the answer makes a `tool_search_call` of its calls.
 */
export interface SearchTool extends TurnTool {
  readonly finds: "tools";
}

export const searchToolName = "tool_search";

export function isSearch(tool: TurnTool): tool is SearchTool {
  return "finds" in tool;
}

export function readSearchTool(tool: JsonObject): SearchTool {
  const parameters = objectOf(tool["parameters"]);
  return {
    name: searchToolName,
    description: textOf(tool["description"]),
    parameters: Object.keys(parameters).length === 0 ? defaultSearchParameters : parameters,
    strict: null,
    cache: null,
    finds: "tools",
  };
}

/** For a search that says nothing of its arguments. */
const defaultSearchParameters = Object.freeze({
  type: "object",
  properties: { query: { type: "string", description: "What the tools that are looked for should do." } },
  required: ["query"],
});

/** The arguments of a `tool_search_call` are a value, not text. */
export function searchArgumentsText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? {});
}

/** The same back. What is no object is quoted as the model wrote it. */
export function parseSearchArguments(argumentsText: string): JsonObject | string {
  return parseObject(argumentsText) ?? argumentsText;
}

/** What the model is told of the tools that were found: it can call them by these names from now on. */
export function foundToolsText(tools: readonly TurnTool[]): string {
  if (tools.length === 0) return "No tools were found.";
  return JSON.stringify({ tools: tools.map(({ name, description }) => ({ name, description })) });
}
