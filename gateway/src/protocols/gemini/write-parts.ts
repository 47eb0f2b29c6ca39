import type { AnswerBlock, MediaSource } from "#core/index.ts";
import { argumentsObject } from "../call-arguments.ts";
import type { Warn } from "../codec.ts";
import type { JsonObject } from "../json-value.ts";
import { bareSeal } from "../seal-text.ts";
import { writeSignature } from "./thought-signature.ts";

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
