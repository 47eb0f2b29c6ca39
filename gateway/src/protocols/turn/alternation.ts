import type { ToolCallPart, ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import type { JsonObject } from "../json/value.ts";
import { textsIn } from "./parts.ts";

/** Everything one side says until the other does, in the target dialect. Results wait for their calls. */
export interface TurnSide {
  readonly role: "user" | "assistant";
  readonly pieces: readonly JsonObject[];
  readonly calls: readonly ToolCallPart[];
  readonly results: readonly ToolResultPart[];
}

/**
 * Arranges a conversation so that user and model alternate, the user first. Calls and reasoning always belong to the model. `write`
 * renders a part; no pieces for an empty one.
 */
export function alternateTurns(
  messages: readonly TurnMessage[],
  write: (part: Exclude<TurnPart, ToolResultPart>, role: TurnSide["role"]) => readonly JsonObject[],
  warn: Warn,
): readonly TurnSide[] {
  const sides: (TurnSide & { pieces: JsonObject[]; calls: ToolCallPart[]; results: ToolResultPart[] })[] = [];
  const sideOf = (role: TurnSide["role"]): (typeof sides)[number] => {
    const last = sides.at(-1);
    if (last?.role === role) return last;
    const side = { role, pieces: [], calls: [], results: [] };
    sides.push(side);
    return side;
  };
  for (const message of messages) {
    if (message.role === "system") warn("an instruction in the middle of the conversation was sent as user text");
    for (const part of message.parts) {
      if (part.kind === "tool-result") {
        sideOf("user").results.push(part);
        continue;
      }
      const isModel = message.role === "assistant" || part.kind === "tool-call" || part.kind === "reasoning";
      const role = isModel ? "assistant" : "user";
      const pieces = write(part, role);
      if (pieces.length === 0) continue;
      const side = sideOf(role);
      side.pieces.push(...pieces);
      if (part.kind === "tool-call") side.calls.push(part);
    }
  }
  if (sides[0]?.role !== "assistant") return sides;
  warn("the conversation began with the model's words; a short user turn was put before them");
  return [{ role: "user", pieces: [{ text: "Continue." }], calls: [], results: [] }, ...sides];
}

/** Calls with their results, and results without a call. */
export function pairResults(
  calls: readonly ToolCallPart[],
  results: readonly ToolResultPart[],
  warn: Warn,
): {
  readonly answers: readonly (readonly [ToolCallPart, ToolResultPart | undefined])[];
  readonly orphans: readonly ToolResultPart[];
} {
  const waiting = new Map<string, ToolResultPart[]>();
  for (const result of results) waiting.set(result.callId, [...(waiting.get(result.callId) ?? []), result]);
  const answers = calls.map((call) => [call, waiting.get(call.id)?.shift()] as const);
  const answered = new Set(answers.map(([, result]) => result));
  const orphans = results.filter((result) => !answered.has(result));
  for (const [, result] of answers)
    if (result === undefined) warn("a tool call without a result was answered with an error");
  for (const _ of orphans) warn("the result of a tool call that is not in the conversation was sent as user text");
  return { answers, orphans: orphans };
}

export function resultText({ parts }: ToolResultPart): string {
  return textsIn(parts).join("\n");
}
