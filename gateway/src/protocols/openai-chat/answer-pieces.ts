import type { Citation, MediaSource, Seal } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { isThought, signatureIn } from "../gemini/google-extras.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { spanOf, urlCitation } from "../turn/citations.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { warnOfUnknownType } from "../turn/warnings.ts";

/** What a message, or a delta of one, says. */
export interface Piece {
  readonly kind: "text" | "reasoning" | "refusal";
  readonly text: string;
}

export interface CallPiece {
  readonly index: number | null;
  /** Empty where it is not said. */
  readonly id: string;
  readonly name: string;
  readonly argumentsText: string;
  /** Gemini's thought signature, which its OpenAI-shaped endpoint sends with calls. */
  readonly signature: string | null;
}

/** Thoughts first, then text, then a refusal; nothing that is empty. */
export function piecesOf(message: JsonObject): readonly Piece[] {
  const pieces: Piece[] = [];
  add(pieces, "reasoning", reasoningIn(message));
  const content = message["content"];
  if (typeof content === "string" && isThought(message)) add(pieces, "reasoning", content.replace(thoughtTags, ""));
  else if (typeof content === "string") add(pieces, "text", content);
  // Mistral sends an array of parts where it thinks aloud.
  else for (const part of arrayOf(content)) addPart(pieces, part);
  add(pieces, "refusal", textOf(message["refusal"]));
  return pieces;
}

/** Under either name; vendors that have both leave one empty. */
export function reasoningIn(message: JsonObject): string {
  return textOf(message["reasoning_content"]) || textOf(message["reasoning"]) || "";
}

/** Pictures as several vendors attach them: `images: [{"type":"image_url","image_url":{"url"}}]`. */
export function imagesOf(message: JsonObject): readonly MediaSource[] {
  return arrayOf(message["images"]).flatMap((image) => {
    const url = textOf(objectOf(objectOf(image)["image_url"])["url"]);
    if (url === null) return [];
    return [readDataUri(url) ?? { kind: "url" as const, url, mediaType: null }];
  });
}

/** Tool calls, the old single `function_call` among them. */
export function callsOf(message: JsonObject): readonly CallPiece[] {
  const calls = arrayOf(message["tool_calls"]).map((call) => callPiece(objectOf(call)));
  const legacy = message["function_call"];
  return isObject(legacy) ? [...calls, callPiece({ function: legacy })] : calls;
}

function callPiece(call: JsonObject): CallPiece {
  const index = call["index"];
  const body = objectOf(call["function"] ?? call["custom"]);
  const given = body["arguments"] ?? body["input"];
  return {
    index: typeof index === "number" ? index : null,
    id: textOf(call["id"]) ?? "",
    name: textOf(body["name"]) ?? "",
    argumentsText: isObject(given) ? JSON.stringify(given) : (textOf(given) ?? ""),
    signature: signatureIn(call),
  };
}

/** Thoughts as parts of the content: a string, or text parts. */
export function thinkingText(thinking: unknown): string {
  if (typeof thinking === "string") return thinking;
  return arrayOf(thinking)
    .map((piece) => textOf(objectOf(piece)["text"]) ?? "")
    .join("");
}

/** `annotations` of a message, or of a delta of one. */
export function readAnnotations(message: JsonObject, warn: Warn): Citation[] {
  return arrayOf(message["annotations"]).flatMap((value) => {
    const annotation = objectOf(value);
    if (annotation["type"] !== "url_citation") {
      warnOfUnknownType("annotations", annotation["type"], warn);
      return [];
    }
    const cited = objectOf(annotation["url_citation"]);
    const span = spanOf(cited["start_index"], cited["end_index"]);
    // OpenRouter tells what stands there as `content`.
    const quote = textOf(cited["content"]);
    return urlCitation(textOf(cited["url"]), textOf(cited["title"]), { span, quote }) ?? [];
  });
}

/** A signature is Gemini's own, and this account's. */
export function signatureSeal(signature: string, account: string): Seal {
  return { dialect: "gemini", account, data: signature, itemId: null };
}

/** Google's endpoint puts what was thought between these, whole or in the pieces of a stream. */
const thoughtTags = /^<thought>|<\/thought>$/g;

function addPart(pieces: Piece[], value: unknown): void {
  const part = objectOf(value);
  if (part["type"] === "thinking") add(pieces, "reasoning", thinkingText(part["thinking"]));
  else if (part["type"] === "refusal") add(pieces, "refusal", textOf(part["refusal"]));
  else add(pieces, "text", textOf(part["text"]));
}

function add(pieces: Piece[], kind: Piece["kind"], text: string | null): void {
  if (text !== null && text !== "") pieces.push({ kind, text });
}
