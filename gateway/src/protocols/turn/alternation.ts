import type { ToolCallPart, ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { textPart, textsIn } from "./parts.ts";

/** Consecutive messages of one side, merged, in the target dialect. */
export interface TurnSide<Piece> {
  readonly role: "user" | "assistant";
  /** The calls before this side with their results. */
  readonly answers: readonly CallAnswer[];
  readonly pieces: readonly Piece[];
}

export type CallAnswer = readonly [call: ToolCallPart, result: ToolResultPart | undefined];

/**
 * Arranges a conversation so that user and model alternate, the user first, and each call is answered right after it. Calls and
 * reasoning always belong to the model; results without a call become text. `write` renders a part; no pieces for an empty one.
 * `answersLast`: calls at the very end are answered, too.
 */
export function alternateTurns<Piece>(
  messages: readonly TurnMessage[],
  write: (part: Exclude<TurnPart, ToolResultPart>, role: TurnSide<Piece>["role"]) => readonly Piece[],
  { answersLast, warn }: { readonly answersLast: boolean; readonly warn: Warn },
): readonly TurnSide<Piece>[] {
  const resultOf = pairResults(messages);
  const paired = new Set(resultOf.values());
  const sides: (TurnSide<Piece> & { pieces: Piece[]; answers: CallAnswer[] })[] = [];
  let calls: ToolCallPart[] = [];
  const add = (role: TurnSide<Piece>["role"], pieces: readonly Piece[]): void => {
    if (pieces.length === 0) return;
    const last = sides.at(-1);
    if (last?.role === role) last.pieces.push(...pieces);
    else sides.push({ role, answers: [], pieces: [...pieces] });
  };
  const answerCalls = (): void => {
    if (calls.length === 0) return;
    sides.push({ role: "user", answers: calls.map((call) => [call, resultOf.get(call)] as const), pieces: [] });
    if (calls.some((call) => !resultOf.has(call))) warn("a tool call without a result was answered with an error");
    calls = [];
  };
  for (const { role, parts } of messages) {
    if (role === "system") warn("a system message within the conversation was sent as user text");
    for (const part of parts) {
      if (part.kind === "tool-result") {
        answerCalls();
        if (!paired.has(part)) for (const piece of orphanParts(part, warn)) add("user", write(piece, "user"));
        continue;
      }
      const isModel = role === "assistant" || part.kind === "tool-call" || part.kind === "reasoning";
      if (!isModel) answerCalls();
      add(isModel ? "assistant" : "user", write(part, isModel ? "assistant" : "user"));
      if (part.kind === "tool-call") calls.push(part);
    }
  }
  if (answersLast) answerCalls();
  if (sides[0]?.role !== "assistant") return sides;
  warn("the conversation began with the model: a short user turn was inserted");
  return [{ role: "user", answers: [], pieces: write(textPart("Continue."), "user") }, ...sides];
}

/** Matches each result with the earliest unanswered call of its id: ids may repeat in later turns. */
export function pairResults(messages: readonly TurnMessage[]): ReadonlyMap<ToolCallPart, ToolResultPart> {
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  const unanswered = new Map<string, ToolCallPart[]>();
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.kind === "tool-call") {
      const calls = unanswered.get(part.id);
      if (calls === undefined) unanswered.set(part.id, [part]);
      else calls.push(part);
    } else if (part.kind === "tool-result") {
      const call = unanswered.get(part.callId)?.shift();
      if (call !== undefined) resultOf.set(call, part);
    }
  }
  return resultOf;
}

function orphanParts(result: ToolResultPart, warn: Warn) {
  warn("a tool result without its call was sent as text");
  const text = textPart(`Result of ${result.name ?? "a tool"}: ${resultText(result)}`);
  return [text, ...result.parts.filter((part) => part.kind !== "text")];
}

export function resultText({ parts }: ToolResultPart): string {
  return textsIn(parts).join("\n");
}
