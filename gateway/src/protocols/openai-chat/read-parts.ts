import type { MediaPart, MediaSource, TurnPart } from "#core/index.ts";
import { expectText, invalid, isObject, type JsonObject, missingParam, objectOf, textOf } from "../json/value.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { mediaTypeOf } from "../turn/media-types.ts";
import { mediaPart, textPart, urlSource } from "../turn/parts.ts";
import { readCacheHint } from "../turn/prompt-cache.ts";
import { thinkingText } from "./answer-pieces.ts";

type OpenaiDialect = "openai-chat" | "openai-responses";
export type ContentPart = Extract<TurnPart, { kind: "text" | "refusal" | "reasoning" }> | MediaPart;

/**
 * Content of chat completions or Responses, which differ only in the names of their parts. Empty texts are dropped. `onUnknown` decides
 * about parts of an unknown type.
 */
export function readContentParts(
  content: unknown,
  param: string,
  dialect: OpenaiDialect,
  onUnknown: (type: unknown, param: string) => void,
): ContentPart[] {
  if (content === null || content === undefined) return [];
  const parts: unknown = typeof content === "string" ? [content] : content;
  if (!Array.isArray(parts)) throw invalid(param, "must be a string or an array of parts");
  return parts.flatMap((value: unknown, index): ContentPart[] => {
    const at = `${param}[${index}]`;
    const part = typeof value === "string" ? { type: "text", text: value } : value;
    if (!isObject(part)) throw invalid(at, "must be an object");
    const read = readPart(part, at, dialect);
    if (read === null) onUnknown(part["type"], `${at}.type`);
    return read === null || (read.kind === "text" && read.text === "") ? [] : [read];
  });
}

function readPart(part: JsonObject, param: string, dialect: OpenaiDialect): ContentPart | null {
  switch (part["type"]) {
    case "text":
    case "input_text":
    case "output_text":
      return textPart(requireText(part["text"], `${param}.text`), readCacheHint(part));
    case "refusal":
      return { kind: "refusal", text: requireText(part["refusal"], `${param}.refusal`) };
    case "thinking":
      return { kind: "reasoning", text: thinkingText(part["thinking"]), seal: null, redacted: false };
    case "image_url":
    case "input_image":
      return readUrlPart("image", part, param, dialect);
    case "video_url":
      return readUrlPart("video", part, param, dialect);
    case "input_audio":
      return readAudio(part, param);
    case "file":
    case "input_file":
      return readFile(part, param, dialect);
    default:
      return null;
  }
}

/** `{"image_url":{"url","detail"}}` in chat, `{"image_url","file_id","detail"}` in Responses. */
function readUrlPart(kind: "image" | "video", part: JsonObject, param: string, dialect: OpenaiDialect): MediaPart {
  const member = part[`${kind}_url`];
  const url = textOf(member) ?? textOf(objectOf(member)["url"]);
  const fileId = textOf(part["file_id"]);
  const detail = textOf(part["detail"]) ?? textOf(objectOf(member)["detail"]);
  if (url === null && fileId === null) throw missingParam(`${param}.${kind}_url`);
  const source = url === null ? fileSource(fileId ?? "", dialect) : urlSource(url);
  // "auto" is the default.
  return mediaPart(kind, source, { detail: detail === "auto" ? null : detail, cache: readCacheHint(part) });
}

function fileSource(id: string, dialect: OpenaiDialect): MediaSource {
  return { kind: "file", id, dialect };
}

function readAudio(part: JsonObject, param: string): MediaPart {
  const audio = objectOf(part["input_audio"]);
  const data = requireText(audio["data"], `${param}.input_audio.data`);
  const format = textOf(audio["format"]) ?? "wav";
  const mediaType = format === "mp3" ? "audio/mpeg" : `audio/${format}`;
  const source = readDataUri(data) ?? { kind: "base64" as const, mediaType, data };
  return mediaPart("audio", source, { cache: readCacheHint(part) });
}

/** Nested in `file` in chat; Responses also accepts `file_url`. */
function readFile(part: JsonObject, param: string, dialect: OpenaiDialect): MediaPart {
  const isNested = part["type"] === "file";
  const file = isNested ? objectOf(part["file"]) : part;
  const name = textOf(file["filename"]);
  const data = textOf(file["file_data"]);
  const url = textOf(file["file_url"]);
  const fileId = textOf(file["file_id"]);
  let source: MediaSource;
  if (data !== null) source = dataSource(data, name);
  else if (url !== null) source = urlSource(url);
  else if (fileId !== null) source = fileSource(fileId, dialect);
  else throw missingParam(`${param}.${isNested ? "file." : ""}file_data`);
  const type = source.kind === "base64" ? source.mediaType : "";
  const kind = (["image", "audio", "video"] as const).find((media) => type.startsWith(`${media}/`)) ?? "document";
  return mediaPart(kind, source, { name, cache: readCacheHint(part) });
}

/** Bare base64 has no media type; most files are PDFs. */
function dataSource(data: string, name: string | null): MediaSource {
  if (/^(?:data:|https?:\/\/)/i.test(data.slice(0, 8))) return urlSource(data);
  return { kind: "base64", mediaType: mediaTypeOf(name ?? "") ?? "application/pdf", data };
}

function requireText(value: unknown, param: string): string {
  if (value === undefined || value === null) throw missingParam(param);
  return expectText(value, param);
}
