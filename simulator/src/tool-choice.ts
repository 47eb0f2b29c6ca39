import type { Conversation } from "./conversation.ts";
import type { ParsedRequest, RequestedTool } from "./parsed-request.ts";

/** The tool settings of a request. */
export interface ToolRequest {
  readonly mode: "auto" | "none" | "required";
  /** The one tool that must be called. */
  readonly forced: string | null;
  /** False: at most one call in an answer. */
  readonly parallel: boolean;
}

/**
 * Chooses the tool to call: the forced one, or else one named in the prompt, or else the first if a call is required or
 * the prompt mentions a tool. After a tool result the answer is text.
 */
export function chooseCalls(
  tools: readonly RequestedTool[],
  requested: ToolRequest,
  conversation: Conversation,
): Pick<ParsedRequest, "calls" | "callable" | "parallel"> {
  const { parallel } = requested;
  const isDone = conversation.toolResultLast && conversation.toolResults >= (conversation.script.tool_turns ?? 1);
  if (requested.mode === "none" || isDone) return { calls: [], callable: [], parallel };
  const chosen = pick(tools, requested, conversation.last);
  const calls = chosen === undefined ? [] : [chosen];
  const rest = tools.filter((tool) => tool !== chosen);
  return { calls, callable: requested.forced === null ? [...calls, ...rest] : calls, parallel };
}

function pick(tools: readonly RequestedTool[], requested: ToolRequest, prompt: string): RequestedTool | undefined {
  if (requested.forced !== null) return tools.find((tool) => tool.name === requested.forced);
  const namedTool = tools.find((tool) => prompt.includes(tool.name));
  if (namedTool !== undefined) return namedTool;
  return requested.mode === "required" || /\btools?\b/i.test(prompt) ? tools[0] : undefined;
}
