import type { Answer } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import type { JsonObject } from "../json-value.ts";
import { warnOnce } from "../warn-once.ts";
import { writeFinish } from "./finish.ts";
import { type SaidText, writeGrounding } from "./grounding.ts";
import { writeGeminiUsage } from "./usage.ts";
import { writePart } from "./write-parts.ts";

/** A whole answer as a GenerateContentResponse. */
export function writeGeminiAnswer(answer: Answer, context: AnswerContext): Uint8Array {
  const warn = warnOnce(context.warn);
  const parts: JsonObject[] = [];
  const cited: SaidText[] = [];
  for (const block of answer.blocks) {
    const part = writePart(block, warn);
    if (part === null) continue;
    if (block.kind === "text" && block.citations !== undefined) {
      cited.push({ text: block.text, partIndex: parts.length, fromByte: 0, citations: block.citations });
    }
    parts.push(part);
  }
  const groundingMetadata = writeGrounding(cited, warn);
  // Clients read parts[0].text without asking whether it is there.
  const content = { role: "model", parts: parts.length === 0 ? [{ text: "" }] : parts };
  const response = {
    candidates: [
      {
        content,
        finishReason: writeFinish(answer.finish),
        ...(groundingMetadata === null ? {} : { groundingMetadata }),
        index: 0,
      },
    ],
    ...(answer.usage === null ? {} : { usageMetadata: writeGeminiUsage(answer.usage) }),
    modelVersion: answer.model ?? context.model,
    responseId: answer.id ?? context.newId("resp_"),
  };
  return encoder.encode(JSON.stringify(response));
}

const encoder = new TextEncoder();
