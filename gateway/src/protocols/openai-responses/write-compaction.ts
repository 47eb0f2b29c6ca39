import { type Answer, Failure, type FinishReason, noUsage } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { sealSummary } from "./compaction.ts";
import { writeResponsesUsage } from "./usage.ts";

/** The answer of /responses/compact: what the user said, then the summary of everything. Throws Failure upstream_error. */
export function writeCompactedAnswer(answer: Answer, { turn, createdAt, newId }: AnswerContext): Uint8Array {
  const texts = answer.blocks.flatMap((block) => (block.kind === "text" && block.text !== "" ? [block.text] : []));
  const summary = texts.join("\n\n").trim();
  requireSummary(summary, answer.finish.reason);
  const kept = (turn.compaction?.kept ?? []).map((text) => ({
    type: "message",
    id: newId("msg_"),
    status: "completed",
    role: "user",
    content: [{ type: "input_text", text }],
  }));
  const compaction = { type: "compaction", id: newId("cmp_"), encrypted_content: sealSummary(summary) };
  const compacted = {
    id: newId("resp_"),
    object: "response.compaction",
    created_at: createdAt,
    output: [...kept, compaction],
    usage: writeResponsesUsage(answer.usage ?? noUsage),
  };
  return encoder.encode(JSON.stringify(compacted));
}

/** Half a summary, or none, would be taken for all that there was. Throws Failure upstream_error. */
export function requireSummary(summary: string, reason: FinishReason): void {
  const isWhole = reason === "stop" || reason === "stop-sequence" || reason === "tool-calls";
  if (isWhole && summary !== "") return;
  const cut = reason === "length" || reason === "context-length";
  const why = cut ? "was cut off at its limit of tokens" : "was not written by the model";
  throw new Failure("upstream_error", `The summary of the conversation ${why}.`);
}

const encoder = new TextEncoder();
