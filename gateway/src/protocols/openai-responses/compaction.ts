import {
  type Answer,
  Failure,
  type FinishReason,
  noUsage,
  type Seal,
  type Turn,
  type TurnMessage,
} from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { jsonBytes, missingParam } from "../json/value.ts";
import { textPart, textsIn } from "../turn/parts.ts";
import { readSealText, sealText } from "../turn/seal-text.ts";
import { writeResponsesUsage } from "./usage.ts";

/** User texts kept word for word, about 20,000 tokens. */
const compactionKeptCharactersMax = 80_000;

/** Compaction by other vendors' models: they write a summary, which replaces OpenAI's encrypted one and comes back as user text. */
export function asCompactionTurn(turn: Turn, kept: readonly string[]): Turn {
  if (turn.messages.length === 0) throw missingParam("input");
  return {
    ...turn,
    messages: [...turn.messages, { role: "user", parts: [textPart(summaryPrompt)] }],
    // Earlier calls need their tools, and the prompt stays cached.
    toolChoice: turn.tools.length === 0 ? null : { kind: "none" },
    format: null,
    compaction: { kept },
  };
}

const summaryPrompt = `This conversation has become too long and will continue from a summary that you write now. You, or another model, will continue with only that summary.

Write down, precisely enough to continue without asking again:
- what the user wants, with every requirement, limit and correction that still applies;
- what has been done, what was decided and why, and what was tried and did not work;
- the details needed to continue: files, functions, commands, URLs, values, and relevant tool results;
- what is in progress, what is left to do, and the next step.

Answer with the summary only. Do not call tools, and do not answer the user.`;

/** The last texts of the user that fit; the oldest may be cut. */
export function lastUserTexts(messages: readonly TurnMessage[]): readonly string[] {
  const kept: string[] = [];
  let left = compactionKeptCharactersMax;
  for (const message of [...messages].reverse()) {
    const text = message.role === "user" ? userText(message) : "";
    if (text === "") continue;
    kept.unshift(text.length <= left ? text : text.slice(0, left).toWellFormed());
    left -= text.length;
    if (left <= 0) break;
  }
  return kept;
}

function userText({ parts }: TurnMessage): string {
  const texts = textsIn(parts);
  return texts.some((text) => text.startsWith(summaryHeading)) ? "" : texts.join("\n\n");
}

/** Encodes the summary as `encrypted_content`, without encryption because the caller may read it. */
export function sealSummary(summary: string): string {
  return sealText({ ...summarySeal, data: summary });
}

/** The text for the next model. Null if only OpenAI can read it. */
export function readSummary(encrypted: string): string | null {
  const seal = readSealText(encrypted);
  if (seal === null || seal.itemId !== summarySeal.itemId) return null;
  return `${summaryHeading}\n\n${seal.data}`;
}

const summaryHeading = "The earlier part of this conversation was compacted. This is its summary:";

const summarySeal: Seal = { dialect: "openai-responses", account: null, itemId: "summary", data: "" };

/** Throws Failure upstream_error. */
export function writeCompactedAnswer(answer: Answer, { turn, createdAt, newId }: AnswerContext): Uint8Array {
  const summary = textsIn(answer.blocks)
    .filter((text) => text !== "")
    .join("\n\n")
    .trim();
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
  return jsonBytes(compacted);
}

/** A partial summary would lose the conversation. Throws Failure upstream_error. */
export function requireSummary(summary: string, reason: FinishReason): void {
  const isWhole = reason === "stop" || reason === "stop-sequence" || reason === "tool-calls";
  if (isWhole && summary !== "") return;
  const cut = reason === "length" || reason === "context-length";
  const why = cut ? "was cut off at its limit of tokens" : "was not written by the model";
  throw new Failure("upstream_error", `The summary of the conversation ${why}.`);
}
