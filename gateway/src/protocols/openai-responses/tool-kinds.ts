import type { TurnTool } from "#core/index.ts";
import { type JsonObject, objectOf, textOf } from "../json/value.ts";

/** A tool of a `namespace`. Elsewhere it has a joined name; these members restore it in the answer. */
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

/** Lists tools with their namespaces restored. */
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
 * OpenAI's `tool_search` run by the caller (Codex finds MCP tools with it). Elsewhere it is an ordinary tool; `finds` makes its calls a
 * `tool_search_call` again.
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

const defaultSearchParameters = Object.freeze({
  type: "object",
  properties: { query: { type: "string", description: "What the wanted tools should do." } },
  required: ["query"],
});

/** Tells the model the names of the tools found. */
export function foundToolsText(tools: readonly TurnTool[]): string {
  if (tools.length === 0) return "No tools were found.";
  return JSON.stringify({ tools: tools.map(({ name, description }) => ({ name, description })) });
}
