import type { AskedTool } from "../dialect.ts";
import { emptyScript, type Script } from "../script.ts";
import { splitMark } from "../script-source.ts";

/** What the messages say: words of all their text, the last user text, and whether a tool result came last. */
export interface ChatPrompt {
  readonly words: number;
  readonly last: string;
  readonly script: Script;
  readonly toolResultLast: boolean;
}

export function promptOf(messages: readonly unknown[]): ChatPrompt {
  let words = 0;
  let last = "";
  let script = emptyScript;
  let role: unknown = null;
  for (const message of messages) {
    if (typeof message !== "object" || message === null) continue;
    const row: { role?: unknown; content?: unknown } = message;
    role = row.role;
    const marked = splitMark(textOf(row.content));
    words += countWords(marked.text);
    if (role !== "user") continue;
    last = marked.text;
    script = marked.script;
  }
  return { words, last, script, toolResultLast: role === "tool" };
}

/** The function to call: the forced one, else one when the prompt names it or speaks of a tool. */
export function chatTool(tools: unknown, choice: unknown, prompt: ChatPrompt): AskedTool | null {
  if (!Array.isArray(tools) || choice === "none" || prompt.toolResultLast) return null;
  const functions = tools.flatMap(functionOf);
  const forced = forcedName(choice);
  if (forced !== null) return functions.find((tool) => tool.name === forced) ?? null;
  const named = functions.find((tool) => prompt.last.includes(tool.name));
  if (named !== undefined) return named;
  return choice === "required" || /\btools?\b/i.test(prompt.last) ? (functions[0] ?? null) : null;
}

function functionOf(tool: unknown): AskedTool[] {
  if (typeof tool !== "object" || tool === null) return [];
  const row: { function?: unknown } = tool;
  if (typeof row.function !== "object" || row.function === null) return [];
  const described: { name?: unknown; parameters?: unknown } = row.function;
  if (typeof described.name !== "string") return [];
  return [{ name: described.name, parameters: described.parameters ?? { type: "object", properties: {} } }];
}

function forcedName(choice: unknown): string | null {
  if (typeof choice !== "object" || choice === null) return null;
  return functionOf(choice)[0]?.name ?? null;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown } | null) => (typeof part?.text === "string" ? part.text : ""))
    .filter((text) => text !== "")
    .join(" ");
}

/** Runs of characters other than white space. By hand: a split of a two-megabyte prompt would be the bench. */
function countWords(text: string): number {
  let words = 0;
  let inside = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const blank = code === 32 || (code >= 9 && code <= 13);
    if (!blank && !inside) words += 1;
    inside = !blank;
  }
  return words;
}
