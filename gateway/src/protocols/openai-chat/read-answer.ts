import { type Answer, type AnswerBlock, bounds, type Citation, type Failure, type Seal } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { upstreamBroke } from "../errors/upstream-errors.ts";
import { signatureIn } from "../gemini/google-extras.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseReply, textOf } from "../json/value.ts";
import { plainName, wholeArguments } from "../turn/tool-calls.ts";
import { warnOfUnread } from "../turn/warnings.ts";
import { readAnnotations } from "./annotations.ts";
import { type CallPiece, callsOf, imagesOf, piecesOf } from "./answer-pieces.ts";
import { readFinish } from "./finish.ts";
import { failureReported } from "./reply.ts";
import { readChatUsage } from "./usage.ts";

/** A chat completion in neutral form: its first choice. Throws Failure upstream_error when it holds none. */
export function readChatAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const reply = parseReply(body);
  const choice = arrayOf(reply["choices"])[0];
  if (!isObject(choice)) throw badAnswer(reply);
  const message = objectOf(choice["message"]);
  warnOfUnread(reply, ofReply, "the answer", source.warn);
  warnOfUnread(choice, ofChoice, "a choice", source.warn);
  warnOfUnread(message, ofMessage, "a message", source.warn);
  const blocks = readBlocks(message, source);
  const reason = readFinish(textOf(choice["finish_reason"]), {
    calls: blocks.some((block) => block.kind === "tool-call"),
    refusal: blocks.some((block) => block.kind === "refusal"),
  });
  return {
    id: givenName(reply["id"]),
    model: givenName(reply["model"]),
    blocks,
    finish: { reason, stopSequence: null },
    usage: readChatUsage(reply["usage"], source.usage)?.usage ?? null,
  };
}

/** What is read of an answer, and what labels it. Vendors of this dialect add labels of their own, which nobody misses. */
export const ofReply: ReadonlySet<string> = new Set([
  ...["id", "object", "created", "model", "choices", "usage", "service_tier", "system_fingerprint", "provider"],
  ...[
    "request_id",
    "kind",
    "prompt_filter_results",
    "x_groq",
    "prompt_logprobs",
    "prompt_token_ids",
    "kv_transfer_params",
  ],
  ...["timings", "obfuscation", "error"],
]);
export const ofChoice: ReadonlySet<string> = new Set([
  ...["index", "message", "delta", "finish_reason", "native_finish_reason", "stop_reason", "usage"],
  ...["content_filter_results", "content_filter_offsets", "token_ids", "flags", "matched_stop"],
]);
export const ofMessage: ReadonlySet<string> = new Set([
  ...["role", "content", "refusal", "tool_calls", "function_call", "annotations", "images", "name"],
  ...["reasoning_content", "reasoning", "reasoning_details", "extra_content", "provider_specific_fields"],
]);

/** A signature is Gemini's own, and this account's. */
export function signatureSeal(signature: string, account: string): Seal {
  return { dialect: "gemini", account, data: signature, itemId: null };
}

/** Azure leaves names empty where it has nothing to say. */
export function givenName(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
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
  const signature = signatureIn(message);
  if (signature !== null) {
    blocks.push({ kind: "reasoning", text: "", seal: signatureSeal(signature, source.account), redacted: false });
  }
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
    name: plainName(call.name),
    argumentsText: wholeArguments(call.argumentsText),
    seal: call.signature === null ? null : signatureSeal(call.signature, source.account),
  };
}

function badAnswer(reply: JsonObject): Failure {
  const error = reply["error"] ?? null;
  if (error === null) return upstreamBroke("The upstream's answer holds no choice.");
  return failureReported(error);
}
