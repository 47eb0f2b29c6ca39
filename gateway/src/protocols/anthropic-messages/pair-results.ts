import type { ToolCallPart, ToolResultPart, TurnMessage } from "#core/index.ts";

/** Each tool call with its result; a call that no later result answers is not in it. */
export interface Pairs {
  readonly resultOf: ReadonlyMap<ToolCallPart, ToolResultPart>;
  readonly paired: ReadonlySet<ToolResultPart>;
}

/** A result answers the earliest call before it that has its id and no result yet: ids may come again in later turns. */
export function pairResults(messages: readonly TurnMessage[]): Pairs {
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  const paired = new Set<ToolResultPart>();
  const unanswered = new Map<string, ToolCallPart[]>();
  for (const part of messages.flatMap((message) => message.parts)) {
    if (part.kind === "tool-call") {
      const calls = unanswered.get(part.id);
      if (calls === undefined) unanswered.set(part.id, [part]);
      else calls.push(part);
    } else if (part.kind === "tool-result") {
      const call = unanswered.get(part.callId)?.shift();
      if (call === undefined) continue;
      resultOf.set(call, part);
      paired.add(part);
    }
  }
  return { resultOf, paired };
}
