import type { Answer, AnswerBlock, Citation, Finish, FinishReason, Seal, Turn } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { answerEndedInError } from "../errors/upstream-errors.ts";
import { jsonBytes } from "../json/value.ts";
import { documentCitationDropped } from "../turn/citations.ts";
import { emptySeal, sealText } from "../turn/seal-text.ts";
import { argumentsObject, encodeName } from "../turn/tool-calls.ts";
import { callSealText } from "./read-messages.ts";
import { writeMessagesUsage } from "./reply.ts";

type StopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "pause_turn"
  | "refusal"
  | "model_context_window_exceeded";

const stopReasons: Readonly<Partial<Record<FinishReason, StopReason>>> = {
  length: "max_tokens",
  "context-length": "model_context_window_exceeded",
  "content-filter": "refusal",
  refusal: "refusal",
  pause: "pause_turn",
  "tool-calls": "tool_use",
  "stop-sequence": "stop_sequence",
};

export function writeStop(
  { reason, stopSequence }: Finish,
  held: { readonly toolCall: boolean; readonly refusal: boolean },
) {
  let stop = stopReasons[reason];
  // Some vendors end tool calls with a plain stop.
  if (stop === undefined && held.toolCall) stop = "tool_use";
  else if (stop === undefined && held.refusal) stop = "refusal";
  stop ??= stopSequence === null ? "end_turn" : "stop_sequence";
  return {
    stop_details: stop === "refusal" ? { category: null, explanation: null, type: stop } : null,
    stop_reason: stop,
    stop_sequence: stop === "stop_sequence" ? stopSequence : null,
  };
}

/** Content blocks as the API sends them: without `citations: null`, unlike the types. */
export type ContentBlock =
  | {
      readonly text: string;
      readonly type: "text";
      readonly citations?: readonly NonNullable<ReturnType<typeof webCitation>>[];
    }
  | { readonly signature: string; readonly thinking: string; readonly type: "thinking" }
  | { readonly data: string; readonly type: "redacted_thinking" }
  | {
      readonly caller: { readonly type: "direct" };
      readonly id: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly name: string;
      readonly type: "tool_use";
    };

/** A last block that is only a seal is dropped, because programs take the last block for the answer. */
function contentBlocks(answer: Answer, context: AnswerContext): ContentBlock[] {
  const blocks = markedCalls(
    answer.blocks.flatMap((block) => contentBlock(block, context)),
    context,
  );
  const last = blocks.at(-1);
  return last?.type === "thinking" && last.thinking === "" && blocks.length > 1 ? blocks.slice(0, -1) : blocks;
}

/** Anthropic sends thinking only on request, and programs that did not ask take the first block for the text. */
export function wantsThinking(turn: Pick<Turn, "reasoning">): boolean {
  return turn.reasoning !== null && turn.reasoning.effort !== "none";
}

/**
 * Whether a call without thinking before it needs a mark. With a thinking budget Anthropic refuses such a loop of calls, and the
 * conversation may continue there.
 */
export function needsCallMark(turn: Pick<Turn, "reasoning">): boolean {
  return wantsThinking(turn) && (turn.reasoning?.budgetTokens ?? 0) > 0;
}

/** A thinking block with an empty seal. */
export function callMark(account: string): string {
  return sealText(emptySeal(account));
}

/** Another vendor's seal is wrapped. */
export function signatureOf(seal: Seal): string {
  return seal.dialect === "anthropic-messages" ? seal.data : sealText(seal);
}

/** A citation of a web page. Its index is a seal, which is removed if the conversation continues at Anthropic. Null for documents. */
export function webCitation({ source, quote }: Citation, context: AnswerContext) {
  if (source.kind !== "url") {
    context.warn(documentCitationDropped);
    return null;
  }
  const { url, title } = source;
  const encrypted_index = sealText(emptySeal(context.account));
  return { cited_text: quote ?? "", encrypted_index, title, type: "web_search_result_location" as const, url };
}

export const pictureNote = "[Picture omitted: this API cannot return it.]";

export function textBlock(text: string): ContentBlock {
  return { text, type: "text" };
}

export function thinkingBlock(thinking: string, signature: string): ContentBlock {
  return { signature, thinking, type: "thinking" };
}

export function toolUseBlock(id: string, name: string, input: Readonly<Record<string, unknown>>): ContentBlock {
  return { caller: { type: "direct" }, id: encodeName(id), input, name, type: "tool_use" };
}

export function callId(id: string, context: AnswerContext): string {
  return id === "" ? context.newId("toolu_") : id;
}

export function warnOfPicture(context: AnswerContext): void {
  context.warn("a picture in the answer cannot be translated and was dropped");
}

function markedCalls(blocks: ContentBlock[], { turn, account }: AnswerContext): ContentBlock[] {
  const at = blocks.findIndex(({ type }) => type === "tool_use");
  const before = blocks.slice(0, Math.max(at, 0));
  const thinks = before.some(({ type }) => type === "thinking" || type === "redacted_thinking");
  if (at === -1 || thinks || !needsCallMark(turn)) return blocks;
  return [...before, thinkingBlock("", callMark(account)), ...blocks.slice(at)];
}

function contentBlock(block: AnswerBlock, context: AnswerContext): ContentBlock[] {
  switch (block.kind) {
    case "text": {
      if (block.text === "") return [];
      const citations = (block.citations ?? []).flatMap((citation) => webCitation(citation, context) ?? []);
      return [{ ...textBlock(block.text), ...(citations.length === 0 ? {} : { citations }) }];
    }
    case "refusal":
      return block.text === "" ? [] : [textBlock(block.text)];
    case "reasoning":
      return thinking(block, context);
    case "image":
      warnOfPicture(context);
      return [textBlock(pictureNote)];
    case "tool-call": {
      const id = callId(block.id, context);
      const call = toolUseBlock(id, block.name, argumentsObject(block.argumentsText, context.warn));
      return block.seal === null ? [call] : [thinkingBlock("", callSealText(block.seal, id)), call];
    }
  }
}

function thinking(
  { text, seal, redacted }: AnswerBlock & { readonly kind: "reasoning" },
  { turn, account }: AnswerContext,
): ContentBlock[] {
  if (!wantsThinking(turn)) return [];
  const signature = signatureOf(seal ?? emptySeal(account));
  if (redacted) return seal === null ? [] : [{ data: signature, type: "redacted_thinking" }];
  const shown = turn.reasoning?.visible === true ? text : "";
  return shown === "" && seal === null ? [] : [thinkingBlock(shown, signature)];
}

/** Throws Failure upstream_error for an answer that ended in an error. */
export function writeMessagesAnswer(answer: Answer, context: AnswerContext): Uint8Array {
  if (answer.finish.reason === "error") throw answerEndedInError();
  return jsonBytes(writeMessage(answer, context));
}

function writeMessage(answer: Answer, context: AnswerContext) {
  const holds = (kind: AnswerBlock["kind"]): boolean => answer.blocks.some((block) => block.kind === kind);
  return {
    ...messageHead(answer.id, answer.model, context),
    content: contentBlocks(answer, context),
    ...writeStop(answer.finish, { toolCall: holds("tool-call"), refusal: holds("refusal") }),
    usage: writeMessagesUsage(answer.usage),
  };
}

export type AnswerMessage = ReturnType<typeof writeMessage>;

export function messageHead(id: string | null, model: string | null, context: AnswerContext) {
  return {
    id: id?.startsWith("msg_") ? id : context.newId("msg_"),
    type: "message" as const,
    role: "assistant" as const,
    model: model ?? context.model,
    container: null,
    diagnostics: null,
  };
}
