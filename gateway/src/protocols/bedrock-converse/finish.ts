import type { Finish, FinishReason } from "#core/index.ts";
import { textOf } from "../json-value.ts";

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["tool_use", "tool-calls"],
  ["max_tokens", "length"],
  ["stop_sequence", "stop-sequence"],
  ["guardrail_intervened", "content-filter"],
  ["content_filtered", "content-filter"],
  ["malformed_model_output", "error"],
  ["malformed_tool_use", "error"],
  ["model_context_window_exceeded", "context-length"],
]);

/** A reason that is not known ended it well. Which stop sequence was met is not told. */
export function readFinish(stopReason: unknown): Finish {
  return { reason: reasons.get(textOf(stopReason) ?? "") ?? "stop", stopSequence: null };
}
