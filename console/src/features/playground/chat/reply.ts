/** A tool call of the model, with its arguments as received. */
export interface ToolCall {
  /** Identifies the pieces of a call; it may start at any number. */
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Arguments are formatted once they are valid JSON; incomplete or invalid ones stay as received. */
export function argumentsText({ arguments: text }: Pick<ToolCall, "arguments">): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The part of an answer that has arrived. */
export interface Reply {
  readonly text: string;
  /** The reasoning of some models; not sent back. */
  readonly thinking: string;
  readonly toolCalls: readonly ToolCall[];
  /** The upstream's finish reason. */
  readonly finish: string | null;
}

export const noReply: Reply = { text: "", thinking: "", toolCalls: [], finish: null };

/** Adds a chunk of a chat stream to the reply. Missing and malformed fields are skipped. */
export function withChunk(reply: Reply, chunk: unknown): Reply {
  const choice = itemsOf(member(chunk, "choices"))[0];
  if (choice === undefined) return reply;
  const delta = member(choice, "delta");
  const text = textOf(delta, "content") + textOf(delta, "refusal");
  const thinking = textOf(delta, "reasoning_content") || textOf(delta, "reasoning");
  const calls = itemsOf(member(delta, "tool_calls"));
  const finish = textOf(choice, "finish_reason") || reply.finish;
  return {
    text: reply.text + text,
    thinking: reply.thinking + thinking,
    toolCalls: calls.reduce<readonly ToolCall[]>(withCall, reply.toolCalls),
    finish,
  };
}

/** A call arrives in pieces: first its ID and name, then its arguments; `index` identifies the call. */
function withCall(calls: readonly ToolCall[], piece: unknown): readonly ToolCall[] {
  const sent = member(piece, "index");
  const index = typeof sent === "number" ? sent : calls.length;
  const named = member(piece, "function");
  const before = calls.find((each) => each.index === index);
  const call: ToolCall = {
    index,
    id: before?.id || textOf(piece, "id") || `call_${index}`,
    name: (before?.name ?? "") + textOf(named, "name"),
    arguments: (before?.arguments ?? "") + textOf(named, "arguments"),
  };
  return before === undefined ? [...calls, call] : calls.map((each) => (each === before ? call : each));
}

export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export function usageOf(chunk: unknown): Usage | null {
  const usage = member(chunk, "usage");
  if (usage === null || typeof usage !== "object") return null;
  return { inputTokens: numberOf(usage, "prompt_tokens"), outputTokens: numberOf(usage, "completion_tokens") };
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}

function textOf(value: unknown, name: string): string {
  const text = member(value, name);
  return typeof text === "string" ? text : "";
}

function numberOf(value: unknown, name: string): number | null {
  const number = member(value, name);
  return typeof number === "number" ? number : null;
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
