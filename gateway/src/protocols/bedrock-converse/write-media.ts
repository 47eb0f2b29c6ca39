import type { MediaPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { readDataUri } from "../turn/data-uri.ts";

/** Writes the media of one request; documents need names that differ. */
export class MediaWriter {
  readonly #warn: Warn;
  readonly #names = new Set<string>();

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  write(part: MediaPart): JsonObject {
    if (part.detail !== null && part.detail !== "auto") {
      this.#warn("image detail is not understood by the upstream and was left out");
    }
    const { source } = part;
    switch (source.kind) {
      case "base64":
        return this.#block(part, formatOf(part, source.mediaType), { bytes: source.data });
      case "text":
        return this.#block(part, "txt", { bytes: Buffer.from(source.text, "utf8").toString("base64") });
      case "file":
        throw unsupported("messages", `The ${part.kind} is a file of another vendor, which the upstream cannot read.`);
      case "url":
        return this.#url(part, source.url, source.mediaType);
    }
  }

  #url(part: MediaPart, url: string, mediaType: string | null): JsonObject {
    const inline = readDataUri(url);
    if (inline !== null) return this.#block(part, formatOf(part, inline.mediaType), { bytes: inline.data });
    if (!url.startsWith("s3://")) {
      throw unsupported(
        "messages",
        `The upstream does not fetch URLs: the ${part.kind} must be sent inline, as base64.`,
      );
    }
    return this.#block(part, formatOf(part, mediaType ?? endingOf(url)), { s3Location: { uri: url } });
  }

  #block(part: MediaPart, format: string, source: JsonObject): JsonObject {
    if (part.kind !== "document") return { [part.kind]: { format, source } };
    return { document: { format, name: this.#name(part.name), source } };
  }

  /** Letters, digits, single blanks and a few marks: anything else in a document's name is refused. */
  #name(given: string | null): string {
    const plain = (given ?? "")
      .replace(/[^A-Za-z0-9\-()[\]]+/g, " ")
      .trim()
      .slice(0, nameCharactersMax);
    const base = plain === "" ? "document" : plain;
    let name = base;
    for (let count = 2; this.#names.has(name); count++) name = `${base} ${count}`;
    this.#names.add(name);
    return name;
  }
}

const nameCharactersMax = 100;

/** Bedrock's words for media types. Source: Bedrock Runtime API, ImageBlock, DocumentBlock, AudioBlock, VideoBlock. */
const formats: Readonly<Record<MediaPart["kind"], ReadonlyMap<string, string>>> = {
  image: new Map([
    ["image/png", "png"],
    ["image/jpeg", "jpeg"],
    ["image/jpg", "jpeg"],
    ["image/gif", "gif"],
    ["image/webp", "webp"],
  ]),
  document: new Map([
    ["application/pdf", "pdf"],
    ["text/csv", "csv"],
    ["application/msword", "doc"],
    ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
    ["application/vnd.ms-excel", "xls"],
    ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
    ["text/html", "html"],
    ["text/plain", "txt"],
    ["text/markdown", "md"],
  ]),
  audio: new Map([
    ["audio/mpeg", "mp3"],
    ["audio/mp3", "mp3"],
    ["audio/wav", "wav"],
    ["audio/x-wav", "wav"],
    ["audio/ogg", "ogg"],
    ["audio/opus", "opus"],
    ["audio/flac", "flac"],
    ["audio/aac", "aac"],
    ["audio/mp4", "mp4"],
    ["audio/webm", "webm"],
  ]),
  video: new Map([
    ["video/mp4", "mp4"],
    ["video/quicktime", "mov"],
    ["video/webm", "webm"],
    ["video/x-matroska", "mkv"],
    ["video/mpeg", "mpeg"],
    ["video/x-flv", "flv"],
    ["video/x-ms-wmv", "wmv"],
    ["video/3gpp", "three_gp"],
  ]),
};

/** Of a media type, or of a bare ending where no type was said. */
function formatOf({ kind }: MediaPart, type: string): string {
  const known = formats[kind];
  const format = known.get(type.toLowerCase()) ?? [...known.values()].find((one) => one === type);
  if (format !== undefined) return format;
  throw unsupported("messages", `The upstream does not read this type of ${kind}.`);
}

function endingOf(url: string): string {
  const ending = /\.([a-z0-9]{2,4})$/i.exec(url)?.[1]?.toLowerCase() ?? "";
  return ending === "jpg" ? "jpeg" : ending;
}
