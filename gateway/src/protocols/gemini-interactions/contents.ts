import type { MediaPart, MediaSource, TextPart } from "#core/index.ts";
import type { DialectTraits, Warn } from "../codec.ts";
import { acceptedTypes, isGeminiUrl } from "../gemini/media-urls.ts";
import { isVendorFile } from "../gemini/request.ts";
import { invalid, isObject, type JsonObject, textOf, unsupported, withoutNulls } from "../json/value.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { mediaTypeOf } from "../turn/media-types.ts";
import { mediaPart, textPart } from "../turn/parts.ts";
import { notSupported, quotableName, warnOfUnsentMembers } from "../turn/warnings.ts";

/** Types of contents, inside or outside of steps. Source: @google/genai, Content. */
export const contentTypes: ReadonlySet<string> = new Set(["text", "image", "audio", "document", "video"]);

/** Throws Failure invalid_request for a content that is not valid. Null for an empty text. */
export function readContent(value: unknown, warn: Warn): TextPart | MediaPart | null {
  if (!isObject(value)) throw invalid("input", "must contain objects with a type");
  const { type } = value;
  if (type === "text") {
    const text = textOf(value["text"]);
    if (text === null) throw invalid("input", "has a text without text");
    warnOfUnsentMembers(value, textMembers, "a text", warn);
    return text === "" ? null : textPart(text);
  }
  if (type !== "image" && type !== "audio" && type !== "document" && type !== "video") {
    throw invalid("input", `has a content of the unknown type ${quotableName(type)}`);
  }
  warnOfUnsentMembers(value, mediaMembers, `a content of type ${type}`, warn);
  const detail = readResolution(value["resolution"], type, warn);
  return mediaPart(type, sourceOf(value, type), { name: textOf(value["name"]), detail });
}

/** Annotations of an earlier answer are for its reader. */
const textMembers: ReadonlySet<string> = new Set(["type", "text", "annotations"]);
const mediaMembers: ReadonlySet<string> = new Set(["type", "data", "uri", "mime_type", "resolution", "name"]);

function sourceOf(content: JsonObject, type: MediaPart["kind"]): MediaSource {
  const data = textOf(content["data"]);
  const mediaType = textOf(content["mime_type"]);
  if (data !== null) {
    if (mediaType === null) throw invalid("input", `has data of type ${type} without a mime_type`);
    return { kind: "base64", mediaType, data };
  }
  const uri = textOf(content["uri"]);
  if (uri === null || uri === "") throw invalid("input", `has a content of type ${type} without data or uri`);
  const inline = readDataUri(uri);
  if (inline !== null) return inline;
  return isVendorFile(uri) ? { kind: "file", id: uri, dialect: "gemini" } : { kind: "url", url: uri, mediaType };
}

/** Only low and high have an equivalent elsewhere, for images. */
function readResolution(resolution: unknown, type: MediaPart["kind"], warn: Warn): string | null {
  if (type === "image" && (resolution === "low" || resolution === "high")) return resolution;
  if (resolution !== undefined && resolution !== null) warn(notSupported("the resolution of a content"));
  return null;
}

export function writeContent(part: TextPart | MediaPart, traits: DialectTraits, warn: Warn): JsonObject[] {
  if (part.kind === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  return [writeMedia(part, traits, warn)];
}

function writeMedia(part: MediaPart, traits: DialectTraits, warn: Warn): JsonObject {
  const { source, kind, name, detail } = part;
  if (source.kind === "text") {
    return { type: "text", text: name === null ? source.text : `${name}\n\n${source.text}` };
  }
  if (name !== null && name !== "" && kind !== "video") warn(notSupported("the name of a file"));
  const more = withoutNulls({ name: kind === "video" ? name : null, resolution: writeResolution(detail, kind, warn) });
  switch (source.kind) {
    case "base64": {
      const mediaType = acceptedTypes.get(source.mediaType) ?? source.mediaType;
      return { type: kind, mime_type: mediaType, data: source.data, ...more };
    }
    case "url":
      if (traits.fetchesUrls !== true && !isGeminiUrl(source.url)) {
        throw unsupported("messages", `The upstream does not fetch URLs: the ${kind} must be sent inline, as base64.`);
      }
      return {
        type: kind,
        ...withoutNulls({ mime_type: source.mediaType ?? mediaTypeOf(source.url) }),
        uri: source.url,
        ...more,
      };
    case "file":
      if (source.dialect !== "gemini") {
        throw unsupported("messages", `The ${kind} is a file of another vendor, which the upstream cannot read.`);
      }
      return { type: kind, uri: source.id, ...more };
  }
}

function writeResolution(detail: string | null, kind: MediaPart["kind"], warn: Warn): string | null {
  if (detail === null || detail === "auto") return null;
  if (kind === "image" && (detail === "low" || detail === "high")) return detail;
  warn(notSupported("image detail"));
  return null;
}
