import type { Answer } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import { warnOnce } from "../warn-once.ts";
import { writeFinish } from "./finish.ts";
import { writeGeminiUsage } from "./usage.ts";
import { writePart } from "./write-parts.ts";

/** A whole answer as a GenerateContentResponse. */
export function writeGeminiAnswer(answer: Answer, context: AnswerContext): Uint8Array {
  const warn = warnOnce(context.warn);
  const parts = answer.blocks.flatMap((block) => writePart(block, warn) ?? []);
  // Clients read parts[0].text without asking whether it is there.
  const content = { role: "model", parts: parts.length === 0 ? [{ text: "" }] : parts };
  const response = {
    candidates: [{ content, finishReason: writeFinish(answer.finish), index: 0 }],
    ...(answer.usage === null ? {} : { usageMetadata: writeGeminiUsage(answer.usage) }),
    modelVersion: answer.model ?? context.model,
    responseId: answer.id ?? context.newId("resp_"),
  };
  return encoder.encode(JSON.stringify(response));
}

const encoder = new TextEncoder();
