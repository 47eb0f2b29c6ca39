import { type Answer, Failure } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { type ContentBlock, contentBlocks } from "./answer-blocks.ts";
import { type Held, type Stop, writeStop } from "./stop-reason.ts";
import { type MessagesUsage, writeMessagesUsage } from "./usage.ts";

/** A whole message. Throws Failure upstream_error for an answer that ended in an error: a message cannot say so. */
export function writeMessagesAnswer(answer: Answer, context: AnswerContext): Uint8Array {
  if (answer.finish.reason === "error") throw endedInError();
  const held: Held = {
    toolCall: answer.blocks.some((block) => block.kind === "tool-call"),
    refusal: answer.blocks.some((block) => block.kind === "refusal"),
  };
  const message = {
    ...messageHead(answer.id, answer.model, context),
    content: contentBlocks(answer, context),
    ...writeStop(answer.finish, held),
    usage: writeMessagesUsage(answer.usage),
  } satisfies AnswerMessage;
  return encoder.encode(JSON.stringify(message));
}

export interface AnswerMessage extends Omit<Stop, "stop_reason"> {
  readonly id: string;
  readonly container: null;
  readonly content: readonly ContentBlock[];
  readonly diagnostics: null;
  readonly model: string;
  readonly role: "assistant";
  readonly stop_reason: Stop["stop_reason"] | null;
  readonly type: "message";
  readonly usage: MessagesUsage;
}

/** What a message says of itself before it has any content. */
export function messageHead(
  id: string | null,
  model: string | null,
  context: AnswerContext,
): Pick<AnswerMessage, "id" | "type" | "role" | "model" | "container" | "diagnostics"> {
  return {
    id: id?.startsWith("msg_") ? id : context.newId("msg_"),
    type: "message",
    role: "assistant",
    model: model ?? context.model,
    container: null,
    diagnostics: null,
  };
}

export function endedInError(): Failure {
  return new Failure("upstream_error", "The upstream ended its answer with an error.", { retry: "other" });
}

const encoder = new TextEncoder();
