import type { MediaPart, Seal, ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { DialectTraits, TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { alternateTurns, type CallAnswer, resultText } from "../turn/alternation.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { mediaTypeOf } from "../turn/media-types.ts";
import { canOpen } from "../turn/seal-text.ts";
import { argumentsObject } from "../turn/tool-calls.ts";
import { notSupported } from "../turn/warnings.ts";
import { needsSignatures, placeholderSignature, writeToolName, writeToolResponse } from "./encodings.ts";
import { acceptedTypes, isGeminiUrl } from "./media-urls.ts";

/** Writes alternating turns, the user first. Calls must be followed by as many results in the same order. */
export function writeContents(messages: readonly TurnMessage[], target: TurnTarget, warn: Warn): JsonObject[] {
  const signs = needsSignatures(target.upstreamModel);
  const sides = alternateTurns(messages, (part) => writePart(part, target, warn), { answersLast: false, warn });
  return sides.map(({ role, answers, pieces }) => {
    if (role === "assistant") return { role: "model", parts: signs ? withFirstSignature(pieces) : pieces };
    return { role, parts: [...writeResults(answers, target.traits, warn), ...pieces] };
  });
}

function writePart(part: Exclude<TurnPart, ToolResultPart>, target: TurnTarget, warn: Warn): JsonObject[] {
  switch (part.kind) {
    case "text":
    case "refusal":
      return part.text === "" ? [] : [{ text: part.text }];
    case "tool-call": {
      const { id, name, argumentsText, seal } = part;
      const args = argumentsObject(argumentsText, warn);
      const functionCall = { ...idOf(id, target.traits), name: writeToolName(name), args };
      return [{ functionCall, ...signatureOf(seal, target) }];
    }
    case "reasoning": {
      // Thoughts are only sent back to their own producer.
      const signature = signatureOf(part.seal, target);
      if (signature === null) return [];
      return [part.text === "" ? { text: "", ...signature } : { text: part.text, thought: true, ...signature }];
    }
    default:
      return [writeMedia(part, target.traits, warn)];
  }
}

function signatureOf(seal: Seal | null, { account }: TurnTarget): JsonObject | null {
  return seal !== null && canOpen(seal, "gemini", account) ? { thoughtSignature: seal.data } : null;
}

function withFirstSignature(parts: readonly JsonObject[]): readonly JsonObject[] {
  const at = parts.findIndex((part) => part["functionCall"] !== undefined);
  const first = parts[at];
  if (first === undefined || first["thoughtSignature"] !== undefined) return parts;
  return parts.with(at, { ...first, thoughtSignature: placeholderSignature });
}

/** Results in the order of the calls, followed by their media, since a functionResponse holds only an object. */
function writeResults(answers: readonly CallAnswer[], traits: DialectTraits, warn: Warn): JsonObject[] {
  const responses = answers.map(([{ id, name }, result]) => {
    const response =
      result === undefined
        ? { error: "The call was not carried out." }
        : writeToolResponse(resultText(result), result.isError);
    return { functionResponse: { ...idOf(id, traits), name: writeToolName(name), response } };
  });
  const attached = answers.flatMap(([{ name }, result]) => {
    const media = (result?.parts ?? []).filter((part) => part.kind !== "text");
    if (media.length === 0) return [];
    return [{ text: `Attached to the result of ${name}:` }, ...media.map((part) => writeMedia(part, traits, warn))];
  });
  return [...responses, ...attached];
}

function idOf(id: string, { noCallIds }: DialectTraits): JsonObject {
  return id === "" || noCallIds === true ? {} : { id };
}

function writeMedia(part: MediaPart, traits: DialectTraits, warn: Warn): JsonObject {
  const { source } = part;
  if (part.detail !== null && part.detail !== "auto") {
    warn(notSupported("image detail"));
  }
  if (part.name !== null && part.name !== "" && source.kind !== "text") {
    warn(notSupported("the name of a file"));
  }
  switch (source.kind) {
    case "base64":
      return inlineData(source.mediaType, source.data);
    case "text":
      return { text: part.name === null ? source.text : `${part.name}\n\n${source.text}` };
    case "url":
      return writeUrl(part, source.url, source.mediaType, traits);
    case "file":
      if (source.dialect !== "gemini") {
        throw unsupported("messages", `The ${part.kind} is a file of another vendor, which the upstream cannot read.`);
      }
      return { fileData: { fileUri: source.id, mimeType: guessType(source.id, part.kind) } };
  }
}

function writeUrl(part: MediaPart, url: string, mediaType: string | null, traits: DialectTraits): JsonObject {
  const inline = readDataUri(url);
  if (inline !== null) return inlineData(inline.mediaType, inline.data);
  if (traits.fetchesUrls !== true && !isGeminiUrl(url)) {
    throw unsupported("messages", `The upstream does not fetch URLs: the ${part.kind} must be sent inline, as base64.`);
  }
  return { fileData: { fileUri: url, mimeType: mediaType ?? guessType(url, part.kind) } };
}

function inlineData(mediaType: string, data: string): JsonObject {
  return { inlineData: { mimeType: acceptedTypes.get(mediaType) ?? mediaType, data } };
}

/** Used if the URL has no known extension. */
const typesByKind: Readonly<Record<MediaPart["kind"], string>> = {
  image: "image/jpeg",
  document: "application/pdf",
  audio: "audio/mpeg",
  video: "video/mp4",
};

function guessType(url: string, kind: MediaPart["kind"]): string {
  return mediaTypeOf(url) ?? typesByKind[kind];
}
