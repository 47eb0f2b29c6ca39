import type { TurnTool } from "#core/index.ts";
import type { JsonObject } from "../json/value.ts";

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
export function inNamespaces(
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
