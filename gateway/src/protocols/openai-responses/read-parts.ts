import type { MediaPart, MediaSource, TextPart, TurnPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, checkedText, isObject, type JsonObject, objectOf, textOf, wrong } from "../json/value.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { readCacheHint } from "../turn/prompt-cache.ts";
import { plainName } from "../turn/warnings.ts";

export type ContentPart = Extract<TurnPart, { kind: "text" | "refusal" }> | MediaPart;

/** The content of a message or of a tool's output: a text, or parts. */
export function readContent(content: unknown, param: string, warn: Warn): ContentPart[] {
  if (typeof content === "string") return content === "" ? [] : [textPart(content)];
  if (content === undefined || content === null) return [];
  if (!Array.isArray(content)) throw wrong(param, "must be a string or an array of parts");
  return arrayOf(content).flatMap((part, index) => {
    if (!isObject(part)) throw wrong(`${param}[${index}]`, "must be an object");
    const read = readPart(part, `${param}[${index}]`);
    if (read === null)
      warn(`content of type ${plainName(textOf(part["type"]) ?? "")} is not understood and was left out`);
    return read === null ? [] : [read];
  });
}

export function textPart(text: string, cache: TextPart["cache"] = null): TextPart {
  return { kind: "text", text, cache };
}

function readPart(part: JsonObject, param: string): ContentPart | null {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
      return textPart(checkedText(part["text"], `${param}.text`), readCacheHint(part));
    case "refusal":
      return { kind: "refusal", text: checkedText(part["refusal"], `${param}.refusal`) };
    case "input_image":
      return readImage(part, param);
    case "input_file":
      return readFile(part, param);
    case "input_audio":
      return readAudio(part, param);
    default:
      return null;
  }
}

function readImage(part: JsonObject, param: string): MediaPart {
  const url = textOf(part["image_url"]) ?? textOf(objectOf(part["image_url"])["url"]);
  const detail = textOf(part["detail"]);
  return {
    kind: "image",
    source: readSource(url, textOf(part["file_id"]), `${param}.image_url`),
    name: null,
    // "auto" is what is taken when nothing is said.
    detail: detail === "auto" ? null : detail,
    cache: readCacheHint(part),
  };
}

function readFile(part: JsonObject, param: string): MediaPart {
  const name = textOf(part["filename"]);
  const data = textOf(part["file_data"]);
  const source: MediaSource =
    data === null
      ? readSource(textOf(part["file_url"]), textOf(part["file_id"]), `${param}.file_data`)
      : (readDataUri(data) ?? { kind: "base64", mediaType: mediaTypeOf(name), data });
  return { kind: kindOf(source), source, name, detail: null, cache: readCacheHint(part) };
}

function readAudio(part: JsonObject, param: string): MediaPart {
  const audio = objectOf(part["input_audio"]);
  const format = textOf(audio["format"]);
  return {
    kind: "audio",
    source: {
      kind: "base64",
      mediaType: format === "mp3" ? "audio/mpeg" : `audio/${format ?? "wav"}`,
      data: checkedText(audio["data"], `${param}.input_audio.data`),
    },
    name: null,
    detail: null,
    cache: null,
  };
}

function readSource(url: string | null, fileId: string | null, param: string): MediaSource {
  if (url !== null) return readDataUri(url) ?? { kind: "url", url, mediaType: null };
  if (fileId !== null) return { kind: "file", id: fileId, dialect: "openai-responses" };
  throw wrong(param, "is missing");
}

function kindOf(source: MediaSource): "document" | "image" {
  return source.kind === "base64" && source.mediaType.startsWith("image/") ? "image" : "document";
}

/** Bare base64 comes without a media type: the file's name tells it, and most files are PDFs. */
function mediaTypeOf(name: string | null): string {
  const ending = name?.slice(name.lastIndexOf(".") + 1).toLowerCase() ?? "";
  return mediaTypes.get(ending) ?? "application/pdf";
}

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["json", "application/json"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["gif", "image/gif"],
]);
