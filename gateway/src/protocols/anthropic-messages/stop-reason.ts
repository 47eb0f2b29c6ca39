import type { Finish, FinishReason } from "#core/index.ts";
import { type JsonObject, textOf } from "../json/value.ts";

type StopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "pause_turn"
  | "refusal"
  | "model_context_window_exceeded";

const reasons: Readonly<Record<StopReason, FinishReason>> = {
  end_turn: "stop",
  max_tokens: "length",
  stop_sequence: "stop-sequence",
  tool_use: "tool-calls",
  pause_turn: "pause",
  refusal: "refusal",
  model_context_window_exceeded: "context-length",
};

/** Betas' own: the conversation was made shorter and is to be sent again; a turn ended early and goes on when it is sent again. */
const betaReasons: Readonly<Record<string, FinishReason>> = { compaction: "pause" };

/** How a message ended, from an answer or a message_delta's delta. A reason that is not known ended it well. */
export function readFinish(stopped: JsonObject): Finish {
  const reason = textOf(stopped["stop_reason"]) ?? "";
  return {
    reason: Object.hasOwn(reasons, reason) ? reasons[reason as StopReason] : (betaReasons[reason] ?? "stop"),
    stopSequence: textOf(stopped["stop_sequence"]),
  };
}

/** What a message holds that decides its stop reason where the upstream's own word is vaguer. */
export interface Held {
  readonly toolCall: boolean;
  readonly refusal: boolean;
}

function stopReason(finish: Finish, held: Held): StopReason {
  switch (finish.reason) {
    case "length":
      return "max_tokens";
    case "context-length":
      return "model_context_window_exceeded";
    case "content-filter":
    case "refusal":
      return "refusal";
    case "pause":
      return "pause_turn";
    case "tool-calls":
      return "tool_use";
    case "stop-sequence":
      return "stop_sequence";
    default:
      // Some vendors end a turn of tool calls with a plain stop.
      if (held.toolCall) return "tool_use";
      if (held.refusal) return "refusal";
      return finish.stopSequence === null ? "end_turn" : "stop_sequence";
  }
}

/** The members of a message that say how it ended. */
export function writeStop(finish: Finish, held: Held): Stop {
  const reason = stopReason(finish, held);
  return {
    stop_details: reason === "refusal" ? { category: null, explanation: null, type: "refusal" } : null,
    stop_reason: reason,
    stop_sequence: reason === "stop_sequence" ? finish.stopSequence : null,
  };
}

export interface Stop {
  readonly stop_details: { readonly category: null; readonly explanation: null; readonly type: "refusal" } | null;
  readonly stop_reason: StopReason;
  readonly stop_sequence: string | null;
}
