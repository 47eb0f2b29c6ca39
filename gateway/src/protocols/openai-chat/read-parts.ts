import type { CacheHint, MediaPart, MediaSource, TextPart, TurnPart } from "#core/index.ts";
import { arrayOf, isObject, type JsonObject, missing, objectOf, textOf, unsupported, wrong } from "../json/value.ts";
import { readDataUri } from "../turn/data-uri.ts";

/** A message's content, a string or parts, in neutral form. Empty text says nothing and is left away. */
export function readContent(content: unknown, param: string): readonly TurnPart[] {
  if (content === null || content === undefined || content === "") return [];
  if (typeof content === "string") return [textPart(content)];
  if (!Array.isArray(content)) throw wrong(param, "must be a string or an array of parts");
  const parts: TurnPart[] = [];
  content.forEach((value: unknown, index) => {
    const part = readPart(value, `${param}[${index}]`);
    if (part.kind !== "text" || part.text !== "") parts.push(part);
  });
  return parts;
}

/** Content of which only text is allowed (instructions). */
export function readTexts(content: unknown, param: string): readonly TextPart[] {
  return readContent(content, param).map((part) => {
    if (part.kind === "text") return part;
    throw wrong(param, "may hold text only");
  });
}

/** Content of a tool's result: text, and what vendors allow beyond it. */
export function readResultParts(content: unknown, param: string): readonly (TextPart | MediaPart)[] {
  return readContent(content, param).map((part) => {
    if (part.kind === "text" || isMedia(part)) return part;
    throw wrong(param, "may hold text and media only");
  });
}

export function textPart(text: string, cache: CacheHint | null = null): TextPart {
  return { kind: "text", text, cache };
}

/** OpenAI's `prompt_cache_breakpoint`, or the `cache_control` that other vendors put on parts of this dialect. */
export function readCacheHint(part: JsonObject): CacheHint | null {
  const breakpoint = part["prompt_cache_breakpoint"];
  if (isObject(breakpoint)) return { ttl: breakpoint["ttl"] === "12h" ? "1h" : null };
  const control = part["cache_control"];
  if (!isObject(control)) return null;
  const ttl = control["ttl"];
  return { ttl: ttl === "5m" || ttl === "1h" ? ttl : null };
}

function isMedia(part: TurnPart): part is MediaPart {
  return part.kind === "image" || part.kind === "document" || part.kind === "audio" || part.kind === "video";
}

function readPart(value: unknown, param: string): TurnPart {
  if (typeof value === "string") return textPart(value);
  if (!isObject(value)) throw wrong(param, "must be an object");
  switch (value["type"]) {
    case "text":
      return textPart(requireText(value["text"], `${param}.text`), readCacheHint(value));
    case "image_url":
      return readUrlPart("image", value, param);
    case "video_url":
      return readUrlPart("video", value, param);
    case "input_audio":
      return readAudio(value, param);
    case "file":
      return readFile(value, param);
    case "refusal":
      return { kind: "refusal", text: requireText(value["refusal"], `${param}.refusal`) };
    case "thinking":
      return { kind: "reasoning", text: thinkingText(value["thinking"]), seal: null, redacted: false };
    case undefined:
    case null:
      throw missing(`${param}.type`);
    default:
      throw unsupported(`${param}.type`, "This type of content part cannot be carried to the upstream.");
  }
}

/** `{"image_url":{"url","detail"}}`; some clients write the URL itself in its place. */
function readUrlPart(kind: "image" | "video", part: JsonObject, param: string): MediaPart {
  const name = `${kind}_url`;
  const holder = part[name];
  const url = requireText(typeof holder === "string" ? holder : objectOf(holder)["url"], `${param}.${name}.url`);
  const source = readDataUri(url) ?? { kind: "url" as const, url, mediaType: null };
  return { kind, source, name: null, detail: textOf(objectOf(holder)["detail"]), cache: readCacheHint(part) };
}

function readAudio(part: JsonObject, param: string): MediaPart {
  const audio = objectOf(part["input_audio"]);
  const data = requireText(audio["data"], `${param}.input_audio.data`);
  const format = textOf(audio["format"]) ?? "wav";
  const source = readDataUri(data) ?? { kind: "base64" as const, mediaType: audioType(format), data };
  return { kind: "audio", source, name: null, detail: null, cache: readCacheHint(part) };
}

function readFile(part: JsonObject, param: string): MediaPart {
  const file = objectOf(part["file"]);
  const source = fileSource(textOf(file["file_data"]), textOf(file["file_id"]));
  if (source === null) throw missing(`${param}.file.file_data`);
  const type = source.kind === "base64" ? source.mediaType : "";
  const kind = mediaKinds.find((media) => type.startsWith(`${media}/`)) ?? "document";
  return { kind, source, name: textOf(file["filename"]), detail: null, cache: readCacheHint(part) };
}

function fileSource(data: string | null, id: string | null): MediaSource | null {
  if (data !== null) {
    const source = readDataUri(data);
    if (source !== null) return source;
    if (/^https?:\/\//i.test(data.slice(0, 8))) return { kind: "url", url: data, mediaType: null };
    return { kind: "base64", mediaType: "application/pdf", data };
  }
  return id === null ? null : { kind: "file", id, dialect: "openai-chat" };
}

const mediaKinds = ["image", "audio", "video"] as const;

function audioType(format: string): string {
  return format === "mp3" ? "audio/mpeg" : `audio/${format}`;
}

/** Thoughts as parts of the content: a string, or text parts. */
export function thinkingText(thinking: unknown): string {
  if (typeof thinking === "string") return thinking;
  return arrayOf(thinking)
    .map((piece) => textOf(objectOf(piece)["text"]) ?? "")
    .join("");
}

function requireText(value: unknown, param: string): string {
  if (value === undefined || value === null) throw missing(param);
  if (typeof value !== "string") throw wrong(param, "must be a string");
  return value;
}
