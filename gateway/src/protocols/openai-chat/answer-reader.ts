import { type Answer, type AnswerBlock, bounds, type Citation, Failure, type Seal } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseReply, textOf } from "../json-value.ts";
import { readAnnotations } from "./annotations.ts";
import { type CallPiece, callsOf, imagesOf, piecesOf } from "./answer-pieces.ts";
import { readFinish } from "./finish.ts";
import { errorText } from "./reply.ts";
import { readChatUsage } from "./usage.ts";

/** A chat completion in neutral form: its first choice. Throws Failure upstream_error when it holds none. */
export function readChatAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const reply = parseReply(body);
  const choice = arrayOf(reply["choices"])[0];
  if (!isObject(choice)) throw badAnswer(reply);
  const blocks = readBlocks(objectOf(choice["message"]), source);
  const reason = readFinish(textOf(choice["finish_reason"]), {
    calls: blocks.some((block) => block.kind === "tool-call"),
    refusal: blocks.some((block) => block.kind === "refusal"),
  });
  return {
    id: givenName(reply["id"]),
    model: givenName(reply["model"]),
    blocks,
    finish: { reason, stopSequence: null },
    usage: readChatUsage(reply["usage"])?.usage ?? null,
  };
}

/** A signature is Gemini's own, and this account's. */
export function signatureSeal(signature: string, account: string): Seal {
  return { dialect: "gemini", account, data: signature, itemId: null };
}

/** Azure leaves names empty where it has nothing to say. */
export function givenName(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function upstreamBroke(message: string): Failure {
  return new Failure("upstream_error", message, { retry: "other", unwell: true });
}

function readBlocks(message: JsonObject, source: AnswerSource): readonly AnswerBlock[] {
  const blocks: AnswerBlock[] = [];
  for (const { kind, text } of piecesOf(message)) {
    const last = blocks.at(-1);
    if (last?.kind === kind) blocks[blocks.length - 1] = { ...last, text: last.text + text };
    else blocks.push(kind === "reasoning" ? { kind, text, seal: null, redacted: false } : { kind, text });
  }
  cite(blocks, readAnnotations(message, source.warn), source);
  for (const image of imagesOf(message)) blocks.push({ kind: "image", source: image });
  for (const call of callsOf(message)) blocks.push(callBlock(call, source));
  return blocks;
}

/** What a message cites, its text does: the last one, where it has several. */
function cite(blocks: AnswerBlock[], citations: readonly Citation[], { warn }: AnswerSource): void {
  if (citations.length === 0) return;
  const at = blocks.findLastIndex((block) => block.kind === "text");
  const text = blocks[at];
  if (text?.kind === "text") blocks[at] = { ...text, citations: citations.slice(0, bounds.blockCitationsMax) };
  else warn(citationsLost);
}

export const citationsLost = "citations without a text in the answer were left out";

function callBlock(call: CallPiece, source: AnswerSource): AnswerBlock {
  if (call.name === "") throw upstreamBroke("The upstream called a tool without naming it.");
  return {
    kind: "tool-call",
    id: call.id === "" ? source.newId("call_") : call.id,
    name: call.name,
    argumentsText: call.argumentsText,
    seal: call.signature === null ? null : signatureSeal(call.signature, source.account),
  };
}

function badAnswer(reply: JsonObject): Failure {
  const error = reply["error"] ?? null;
  if (error === null) return upstreamBroke("The upstream's answer holds no choice.");
  return upstreamBroke(`The upstream reported an error: ${errorText(error)}`);
}
