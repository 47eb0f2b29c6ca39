import type { Citation, MediaSource, Seal } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { isThought, signatureIn } from "../gemini/google-extras.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { spanOf, urlCitation } from "../turn/citations.ts";
import { urlSource } from "../turn/parts.ts";
import { warnOfUnknownType } from "../turn/warnings.ts";

/** A piece of a message or delta. */
export interface Piece {
  readonly kind: "text" | "reasoning" | "refusal";
  readonly text: string;
}

export interface CallPiece {
  readonly index: number | null;
  /** May be empty. */
  readonly id: string;
  readonly name: string;
  readonly argumentsText: string;
  /** Gemini's thought signature, sent by its OpenAI-compatible endpoint. */
  readonly signature: string | null;
}

/** Reasoning, then text, then a refusal; empty ones are skipped. */
export function piecesOf(message: JsonObject): readonly Piece[] {
  const pieces: Piece[] = [];
  add(pieces, "reasoning", reasoningIn(message));
  const content = message["content"];
  if (typeof content === "string" && isThought(message)) add(pieces, "reasoning", content.replace(thoughtTags, ""));
  else if (typeof content === "string") add(pieces, "text", content);
  // Mistral sends reasoning as parts.
  else for (const part of arrayOf(content)) addPart(pieces, part);
  add(pieces, "refusal", textOf(message["refusal"]));
  return pieces;
}

/** Vendors that have both leave one empty. */
export function reasoningIn(message: JsonObject): string {
  return textOf(message["reasoning_content"]) || textOf(message["reasoning"]) || "";
}

/** As attached by several vendors: `images: [{"type":"image_url","image_url":{"url"}}]`. */
export function imagesOf(message: JsonObject): readonly MediaSource[] {
  return arrayOf(message["images"]).flatMap((image) => {
    const url = textOf(objectOf(objectOf(image)["image_url"])["url"]);
    return url === null ? [] : [urlSource(url)];
  });
}

/** Includes the deprecated `function_call`. */
export function callsOf(message: JsonObject): readonly CallPiece[] {
  const calls = arrayOf(message["tool_calls"]).map((call) => callPiece(objectOf(call)));
  const legacy = message["function_call"];
  return isObject(legacy) ? [...calls, callPiece({ function: legacy })] : calls;
}

function callPiece(call: JsonObject): CallPiece {
  const index = call["index"];
  const body = objectOf(call["function"] ?? call["custom"]);
  const rawArguments = body["arguments"] ?? body["input"];
  return {
    index: typeof index === "number" ? index : null,
    id: textOf(call["id"]) ?? "",
    name: textOf(body["name"]) ?? "",
    argumentsText: isObject(rawArguments) ? JSON.stringify(rawArguments) : (textOf(rawArguments) ?? ""),
    signature: signatureIn(call),
  };
}

/** A string or text parts. */
export function thinkingText(thinking: unknown): string {
  if (typeof thinking === "string") return thinking;
  return arrayOf(thinking)
    .map((piece) => textOf(objectOf(piece)["text"]) ?? "")
    .join("");
}

export function readAnnotations(message: JsonObject, warn: Warn): Citation[] {
  return arrayOf(message["annotations"]).flatMap((value) => {
    const annotation = objectOf(value);
    if (annotation["type"] !== "url_citation") {
      warnOfUnknownType("annotations", annotation["type"], warn);
      return [];
    }
    const cited = objectOf(annotation["url_citation"]);
    const span = spanOf(cited["start_index"], cited["end_index"]);
    // OpenRouter sends the quote as `content`.
    const quote = textOf(cited["content"]);
    return urlCitation(textOf(cited["url"]), textOf(cited["title"]), { span, quote }) ?? [];
  });
}

export function signatureSeal(signature: string, account: string): Seal {
  return { dialect: "gemini", account, data: signature, itemId: null };
}

/** Google's endpoint puts thoughts between these tags. */
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
