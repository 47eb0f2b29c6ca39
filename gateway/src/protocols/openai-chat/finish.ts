import type { FinishReason } from "#core/index.ts";

export type ChatFinish = "stop" | "length" | "tool_calls" | "content_filter";

/** What a caller of chat completions is told; null for an answer that broke, which this dialect cannot say so. */
export function chatFinish(reason: FinishReason): ChatFinish | null {
  return written[reason];
}

/** What an upstream's finish_reason means, in the light of what it answered. */
export function readFinish(
  reason: string | null,
  has: { readonly calls: boolean; readonly refusal: boolean },
): FinishReason {
  const read = (reason === null ? undefined : known.get(reason)) ?? "stop";
  if (has.refusal && (read === "stop" || read === "content-filter")) return "refusal";
  if (has.calls && read === "stop") return "tool-calls";
  return read === "tool-calls" && !has.calls ? "stop" : read;
}

const written: Readonly<Record<FinishReason, ChatFinish | null>> = {
  stop: "stop",
  "stop-sequence": "stop",
  pause: "stop",
  length: "length",
  "context-length": "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
  refusal: "content_filter",
  error: null,
};

/** OpenAI's own, then what vendors of this dialect say beside them; what nobody knows counts as stop. */
const known: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["content_filter", "content-filter"],
  ["max_tokens", "length"],
  ["model_length", "context-length"],
  ["model_context_window_exceeded", "context-length"],
  ["tool_use", "tool-calls"],
  ["sensitive", "content-filter"],
  ["insufficient_system_resource", "error"],
  ["network_error", "error"],
  ["abort", "error"],
  ["error", "error"],
]);
