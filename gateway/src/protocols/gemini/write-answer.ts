import type { Answer, AnswerBlock, MediaSource } from "#core/index.ts";
import type { AnswerContext, Warn } from "../codec.ts";
import type { JsonObject } from "../json/value.ts";
import { bareSeal } from "../turn/seal-text.ts";
import { argumentsObject } from "../turn/tool-calls.ts";
import { warnOnce } from "../turn/warnings.ts";
import { writeFinish } from "./finish.ts";
import { type SaidText, writeGrounding } from "./grounding.ts";
import { writeSignature } from "./thought-signature.ts";
import { writeGeminiUsage } from "./usage.ts";

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

/** A block of an answer as the Part that a Gemini caller reads; null for one that says nothing. */
export function writePart(block: AnswerBlock, warn: Warn): JsonObject | null {
  switch (block.kind) {
    case "text":
    case "refusal":
      return block.text === "" ? null : { text: block.text };
    case "reasoning":
      return writeThought(block);
    case "tool-call": {
      const functionCall = { id: block.id, name: block.name, args: argumentsObject(block.argumentsText, warn) };
      return { functionCall, thoughtSignature: writeSignature(block.seal ?? bareSeal(null)) };
    }
    case "image":
      return writePicture(block.source, warn);
  }
}

function writeThought(block: Extract<AnswerBlock, { kind: "reasoning" }>): JsonObject | null {
  const { text, seal, redacted } = block;
  if (seal === null) return text === "" ? null : { text, thought: true };
  const thoughtSignature = writeSignature(seal, redacted);
  // The vendor's own signature without words is that of the text before it, not of a thought.
  if (text === "" && seal.dialect === "gemini") return { text, thoughtSignature };
  return { text, thought: true, thoughtSignature };
}

function writePicture(source: MediaSource, warn: Warn): JsonObject | null {
  if (source.kind === "base64") return { inlineData: { mimeType: source.mediaType, data: source.data } };
  if (source.kind === "url") {
    return { fileData: { mimeType: source.mediaType ?? "image/png", fileUri: source.url } };
  }
  warn("a picture that only the upstream can read was left out");
  return null;
}
