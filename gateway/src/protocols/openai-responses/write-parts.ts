import type { MediaPart, TextPart } from "#core/index.ts";
import type { DialectTraits, Warn } from "../codec.ts";
import { dataUri } from "../data-uri.ts";
import { type JsonObject, unsupported } from "../json-value.ts";

/** A part of a user's message or of a tool's output. */
export function writeInputPart(part: TextPart | MediaPart, traits: DialectTraits, warn: Warn): JsonObject {
  if (part.kind === "text") return { type: "input_text", text: part.text };
  switch (part.kind) {
    case "image":
      return { type: "input_image", detail: part.detail ?? "auto", ...imageSource(part, traits) };
    case "document":
      return writeDocument(part, traits, warn);
    default:
      throw unsupported("messages", `This model's upstream takes no ${part.kind}.`);
  }
}

function imageSource({ source }: MediaPart, traits: DialectTraits): JsonObject {
  switch (source.kind) {
    case "base64":
      return { image_url: dataUri(source.mediaType, source.data) };
    case "url":
      return { image_url: fetchable(source.url, traits) };
    case "file":
      return { file_id: ownFile(source) };
    case "text":
      throw unsupported("messages", "This model's upstream takes no image given as text.");
  }
}

function writeDocument({ source, name }: MediaPart, traits: DialectTraits, warn: Warn): JsonObject {
  switch (source.kind) {
    case "base64": {
      const file_data = dataUri(source.mediaType, source.data);
      return { type: "input_file", filename: name ?? fileNameOf(source.mediaType), file_data };
    }
    case "url":
      if (name !== null) warn("the name of a document given by URL was left out");
      return { type: "input_file", file_url: fetchable(source.url, traits) };
    case "file":
      return { type: "input_file", file_id: ownFile(source) };
    case "text":
      return { type: "input_text", text: name === null ? source.text : `${name}:\n\n${source.text}` };
  }
}

function fetchable(url: string, traits: DialectTraits): string {
  if (traits.fetchesUrls === false)
    throw unsupported("messages", "This model's upstream downloads no media from URLs.");
  return url;
}

function ownFile(source: { readonly id: string; readonly dialect: string }): string {
  if (source.dialect === "openai-responses" || source.dialect === "openai-chat") return source.id;
  throw unsupported("messages", "A file that was uploaded to one vendor cannot be read by another.");
}

function fileNameOf(mediaType: string): string {
  const said = mediaType.slice(mediaType.lastIndexOf("/") + 1);
  const ending = /^[a-z0-9]{1,32}$/.test(said) ? said : "bin";
  return `document.${ending === "plain" ? "txt" : ending}`;
}
