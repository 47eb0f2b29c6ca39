import type { Answer, AnswerBlock, Finish, MediaSource } from "#core/index.ts";
import type { AnswerContext, Warn } from "../codec.ts";
import { brokenAnswer } from "../errors/upstream-errors.ts";
import { extraContent } from "../gemini/google-extras.ts";
import type { JsonObject } from "../json/value.ts";
import { dataUri } from "../turn/data-uri.ts";
import { writeAnnotations } from "./annotations.ts";
import { customInput, customNames } from "./custom-tool.ts";
import { type ChatFinish, chatFinish } from "./finish.ts";
import { writeChatUsage } from "./usage.ts";

/** A whole chat.completion. Throws Failure upstream_error for an answer that broke: the dialect cannot say so. */
export function writeChatAnswer(answer: Answer, context: AnswerContext): Uint8Array {
  const { blocks } = answer;
  const calls = blocks.filter((block) => block.kind === "tool-call");
  const text = textsOf(blocks, "text");
  const refusal = textsOf(blocks, "refusal");
  const thoughts = textsOf(blocks, "reasoning");
  const images = blocks
    .flatMap((block) => (block.kind === "image" ? [block.source] : []))
    .flatMap((source, index) => writeImage(source, index, context.warn) ?? []);
  const custom = customNames(context.turn);
  const completion = {
    id: answer.id ?? context.newId("chatcmpl-"),
    object: "chat.completion",
    created: context.createdAt,
    model: answer.model ?? context.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
          refusal: refusal === "" ? null : refusal,
          annotations: annotationsOf(blocks, context),
          ...(images.length === 0 ? {} : { images }),
          ...writeCalls(calls, custom, context),
          ...extraContent(blocks.findLast(isSigned)?.seal ?? null),
        },
        logprobs: null,
        finish_reason: finishOf(answer.finish, context),
      },
    ],
    ...(answer.usage === null ? {} : { usage: writeChatUsage(answer.usage) }),
  };
  return encoder.encode(JSON.stringify(completion));
}

export function warnOfPause(finish: Finish, context: AnswerContext): void {
  if (finish.reason === "pause") context.warn("the upstream paused its answer: send it back to have it go on");
}

function finishOf(finish: Finish, context: AnswerContext): ChatFinish | "function_call" {
  const reason = chatFinish(finish.reason);
  if (reason === null) throw brokenAnswer();
  warnOfPause(finish, context);
  return asAsked(reason, context);
}

/** Who asked with `functions` reads the words of that time. */
export function asAsked(reason: ChatFinish, { turn }: AnswerContext): ChatFinish | "function_call" {
  return reason === "tool_calls" && turn.legacyFunctions === true ? "function_call" : reason;
}

export const secondCallLost = "calls after the first were left out: a caller of functions is told of one";

function writeCalls(calls: readonly CallBlock[], custom: ReadonlySet<string>, context: AnswerContext): JsonObject {
  const [first, second] = calls;
  if (first === undefined) return {};
  if (context.turn.legacyFunctions !== true) return { tool_calls: calls.map((call) => writeCall(call, custom)) };
  if (second !== undefined) context.warn(secondCallLost);
  return { function_call: { name: first.name, arguments: first.argumentsText } };
}

function annotationsOf(blocks: readonly AnswerBlock[], { warn }: AnswerContext): JsonObject[] {
  let start = 0;
  return blocks.flatMap((block) => {
    if (block.kind !== "text") return [];
    const place = { start, length: block.text.length };
    start += place.length;
    return writeAnnotations(block.citations ?? [], place, warn);
  });
}

/** Its signature is that of the answer as a whole; those of calls stand with them. */
function isSigned(block: AnswerBlock): block is AnswerBlock & { readonly kind: "reasoning" } {
  return block.kind === "reasoning" && block.seal?.dialect === "gemini";
}

type CallBlock = AnswerBlock & { readonly kind: "tool-call" };

function writeCall(call: CallBlock, custom: ReadonlySet<string>): object {
  const { id, name } = call;
  if (custom.has(name)) return { id, type: "custom", custom: { name, input: customInput(call.argumentsText) } };
  return { id, type: "function", function: { name, arguments: call.argumentsText }, ...extraContent(call.seal) };
}

function textsOf(blocks: readonly AnswerBlock[], kind: "text" | "refusal" | "reasoning"): string {
  return blocks.flatMap((block) => (block.kind === kind ? [block.text] : [])).join("");
}

const encoder = new TextEncoder();

/**
 * A picture that the model made, as OpenRouter and the vendors of this dialect attach it: OpenAI's own types have no place for one.
 * null where only its vendor could read it.
 */
export function writeImage(source: MediaSource, index: number, warn: Warn): JsonObject | null {
  if (source.kind === "base64") return imageAt(dataUri(source.mediaType, source.data), index);
  if (source.kind === "url") return imageAt(source.url, index);
  warn("a picture that only the upstream can read was left out");
  return null;
}

function imageAt(url: string, index: number): JsonObject {
  return { type: "image_url", image_url: { url }, index };
}
