import type { MediaPart } from "#core/index.ts";
import type { DialectTraits, Warn } from "../codec.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { readDataUri } from "../turn/data-uri.ts";

/** A picture, document, sound or film as a Part. */
export function writeMedia(part: MediaPart, traits: DialectTraits, warn: Warn): JsonObject {
  const { source } = part;
  if (part.detail !== null && part.detail !== "auto") {
    warn("image detail is not understood by the upstream and was left out");
  }
  if (part.name !== null && part.name !== "" && source.kind !== "text") {
    warn("the name of a file is not understood by the upstream and was left out");
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
  if (traits.fetchesUrls !== true && !ownUrl.test(url)) {
    throw unsupported("messages", `The upstream does not fetch URLs: the ${part.kind} must be sent inline, as base64.`);
  }
  return { fileData: { fileUri: url, mimeType: mediaType ?? guessType(url, part.kind) } };
}

function inlineData(mediaType: string, data: string): JsonObject {
  return { inlineData: { mimeType: takenTypes.get(mediaType) ?? mediaType, data } };
}

/** Types that are refused ("Unsupported MIME type"), by those under which the vendor reads the same bytes. */
const takenTypes: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["audio/wave", "audio/wav"],
  ["audio/x-wav", "audio/wav"],
  ...["json", "x-ndjson", "xml", "yaml", "x-yaml", "javascript", "x-sh"].map((type): [string, string] => [
    `application/${type}`,
    "text/plain",
  ]),
]);

/** What needs not be fetched for the vendor. */
export function isGeminiUrl(url: string): boolean {
  return ownUrl.test(url);
}

/** What the vendor reads by its address anywhere: its own stores, and films on YouTube. */
const ownUrl = /^(?:gs:\/\/|https:\/\/(?:generativelanguage\.googleapis\.com|(?:www\.)?youtube\.com|youtu\.be)\/)/;

const typesByEnding: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  csv: "text/csv",
  json: "application/json",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  ogg: "audio/ogg",
  flac: "audio/flac",
  aac: "audio/aac",
  m4a: "audio/mp4",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
  mpg: "video/mpeg",
  mpeg: "video/mpeg",
};

/** The commonest of each kind, for addresses that do not say. */
const typesByKind: Readonly<Record<MediaPart["kind"], string>> = {
  image: "image/jpeg",
  document: "application/pdf",
  audio: "audio/mpeg",
  video: "video/mp4",
};

function guessType(url: string, kind: MediaPart["kind"]): string {
  const path = url.split(/[?#]/, 1)[0] ?? "";
  const ending = /\.([a-z0-9]{2,4})$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return typesByEnding[ending] ?? typesByKind[kind];
}
