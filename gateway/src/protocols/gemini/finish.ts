import type { Finish, FinishReason } from "#core/index.ts";
import { objectOf } from "../json/value.ts";

/** Gemini's finish reasons. Source: @google/genai, FinishReason. */
const meanings: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  // The limit of one request was met; the rest would have to be asked for with a token that only this vendor knows.
  CONTINUATION: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  IMAGE_SAFETY: "content-filter",
  IMAGE_PROHIBITED_CONTENT: "content-filter",
  IMAGE_RECITATION: "content-filter",
  IMAGE_OTHER: "content-filter",
};

/** The vendor says STOP also of an answer that ends in calls. A reason that nobody knows is told as an error. */
export function readFinish(reason: string, hasCalls: boolean): Finish {
  const meaning = meanings[reason] ?? "error";
  return { reason: meaning === "stop" && hasCalls ? "tool-calls" : meaning, stopSequence: null };
}

export const blockedFinish: Finish = Object.freeze({ reason: "content-filter", stopSequence: null });

export function isFinishReason(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value !== "FINISH_REASON_UNSPECIFIED";
}

/** Why a prompt was not answered at all; null when it was. */
export function blockReasonOf(promptFeedback: unknown): string | null {
  const reason = objectOf(promptFeedback)["blockReason"];
  return typeof reason === "string" && reason !== "" && reason !== "BLOCK_REASON_UNSPECIFIED" ? reason : null;
}

export function writeFinish(finish: Finish): string {
  switch (finish.reason) {
    case "length":
    case "context-length":
      return "MAX_TOKENS";
    case "content-filter":
    case "refusal":
      return "SAFETY";
    case "error":
      return "OTHER";
    default:
      return "STOP";
  }
}
