import type { MediaPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { isObject, type JsonObject, textOf, wrong } from "../json-value.ts";
import { camelKeys } from "./camel-keys.ts";

/** The picture, document, sound or film of a Part; null when it holds none. */
export function readMedia(part: JsonObject, warn: Warn): MediaPart | null {
  const { inlineData, fileData } = part;
  if (isObject(inlineData)) {
    const inline = camelKeys(inlineData);
    const data = textOf(inline["data"]);
    const mediaType = textOf(inline["mimeType"]);
    if (data === null || mediaType === null) throw wrong("contents", "hold inlineData without mimeType or data");
    return { ...mediaOf(mediaType, inline), source: { kind: "base64", mediaType, data } };
  }
  if (!isObject(fileData)) return null;
  const file = camelKeys(fileData);
  const uri = textOf(file["fileUri"]);
  const mediaType = textOf(file["mimeType"]);
  if (uri === null) throw wrong("contents", "hold fileData without fileUri");
  if (vendorFile.test(uri)) {
    return { ...mediaOf(mediaType, file), source: { kind: "file", id: uri, dialect: "gemini" } };
  }
  if (mediaType === null && !/^https?:\/\//.test(uri)) warn("a file has no mimeType; it is taken for a document");
  return { ...mediaOf(mediaType, file), source: { kind: "url", url: uri, mediaType } };
}

/** Addresses that only the vendor can read. */
const vendorFile = /^(?:gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/)/;

function mediaOf(mediaType: string | null, holder: JsonObject): Omit<MediaPart, "source"> {
  return { kind: kindOf(mediaType ?? ""), name: textOf(holder["displayName"]), detail: null, cache: null };
}

function kindOf(mediaType: string): MediaPart["kind"] {
  const family = mediaType.split("/", 1)[0];
  return family === "image" || family === "audio" || family === "video" ? family : "document";
}
