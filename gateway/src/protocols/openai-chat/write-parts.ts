import type { MediaPart, MediaSource, TextPart } from "#core/index.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { dataUri } from "../turn/data-uri.ts";

export function textContent(text: string): JsonObject {
  return { type: "text", text };
}

/** A part of a user's message for an upstream. Throws Failure unsupported_by_model for what chat has no place for. */
export function contentPart(part: TextPart | MediaPart, fetchesUrls: boolean): JsonObject {
  switch (part.kind) {
    case "text":
      return textContent(part.text);
    case "image":
      return imagePart(part, fetchesUrls);
    case "document":
      return documentPart(part);
    case "audio":
      return audioPart(part.source);
    case "video":
      throw unsupported("messages", "This model's upstream does not take videos.");
  }
}

/** The text of a part that is text by nature, a plain-text document among them; null for everything else. */
export function plainText(part: TextPart | MediaPart): string | null {
  if (part.kind === "text") return part.text;
  const text = part.kind === "document" ? documentText(part.source) : null;
  return text === null || part.name === null ? text : `${part.name}:\n${text}`;
}

function imagePart(part: MediaPart, fetchesUrls: boolean): JsonObject {
  const url = imageUrl(part.source, fetchesUrls);
  return { type: "image_url", image_url: part.detail === null ? { url } : { url, detail: part.detail } };
}

function imageUrl(source: MediaSource, fetchesUrls: boolean): string {
  if (source.kind === "base64") return dataUri(source.mediaType, source.data);
  if (source.kind !== "url") throw unsupported("messages", "This model's upstream takes images as data or URLs only.");
  if (fetchesUrls) return source.url;
  throw unsupported("messages", "This model's upstream does not download images from URLs.");
}

/** PDF and its like go as files; what is plain text is simply said. */
function documentPart(part: MediaPart): JsonObject {
  const text = plainText(part);
  if (text !== null) return textContent(text);
  const { source } = part;
  if (source.kind === "base64") {
    const filename = part.name ?? "document.pdf";
    return { type: "file", file: { filename, file_data: dataUri(source.mediaType, source.data) } };
  }
  if (source.kind === "file" && openaiFiles.has(source.dialect)) return { type: "file", file: { file_id: source.id } };
  throw unsupported("messages", "This model's upstream takes documents as data only.");
}

/** Dialects whose callers name files of the same vendor. */
const openaiFiles: ReadonlySet<string> = new Set(["openai-chat", "openai-responses"]);

function documentText(source: MediaSource): string | null {
  if (source.kind === "text") return source.text;
  if (source.kind !== "base64" || !source.mediaType.startsWith("text/")) return null;
  return Buffer.from(source.data, "base64").toString("utf8");
}

function audioPart(source: MediaSource): JsonObject {
  const format = source.kind === "base64" ? audioFormats.get(source.mediaType) : undefined;
  if (source.kind !== "base64" || format === undefined) {
    throw unsupported("messages", "This model's upstream takes audio as WAV or MP3 data only.");
  }
  return { type: "input_audio", input_audio: { data: source.data, format } };
}

const audioFormats: ReadonlyMap<string, "wav" | "mp3"> = new Map([
  ["audio/wav", "wav"],
  ["audio/wave", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/mp3", "mp3"],
] as const);
