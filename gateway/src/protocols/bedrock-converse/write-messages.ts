import type { CacheHint, MediaPart, ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { alternateTurns, type CallAnswer, type TurnSide } from "../turn/alternation.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { extensionOf, mediaTypeOf } from "../turn/media-types.ts";
import { canOpen } from "../turn/seal-text.ts";
import { argumentsObject, encodeName, shortId, shortToolName } from "../turn/tool-calls.ts";
import { notSupported } from "../turn/warnings.ts";

/** Vendors with additional model parameters that we support. */
export type ModelFamily = "claude" | "nova" | "gpt-oss" | "other";

/** The maker's prefix is also in profile ids and ARNs. */
export function modelFamily(upstreamModel: string): ModelFamily {
  if (/(^|[./])anthropic\.claude/.test(upstreamModel)) return "claude";
  if (/(^|[./])amazon\.nova/.test(upstreamModel)) return "nova";
  if (/(^|[./])openai\.gpt-oss/.test(upstreamModel)) return "gpt-oss";
  return "other";
}

/** Only Claude and Nova accept cache points. */
export function writeCachePoint(cache: CacheHint | null, family: ModelFamily): { cachePoint: object }[] {
  if (cache === null || (family !== "claude" && family !== "nova")) return [];
  const ttl = family === "claude" && cache.ttl === "1h" ? { ttl: "1h" } : {};
  return [{ cachePoint: { type: "default", ...ttl } }];
}

/** Document names must be unique within a request. */
class MediaWriter {
  readonly #warn: Warn;
  readonly #names = new Set<string>();

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  write(part: MediaPart): JsonObject {
    const { kind, source, detail } = part;
    if (detail !== null && detail !== "auto") {
      this.#warn(notSupported("image detail"));
    }
    if (source.kind === "file") {
      throw unsupported("messages", `The ${kind} is a file of another vendor, which the upstream cannot read.`);
    }
    if (source.kind === "text") {
      return this.#block(part, "txt", { bytes: Buffer.from(source.text, "utf8").toString("base64") });
    }
    if (source.kind === "base64") return this.#block(part, formatOf(part, source.mediaType), { bytes: source.data });
    const { url: uri, mediaType } = source;
    const inline = readDataUri(uri);
    if (inline !== null) return this.#block(part, formatOf(part, inline.mediaType), { bytes: inline.data });
    if (uri.startsWith("s3://"))
      return this.#block(part, formatOf(part, mediaType ?? mediaTypeOf(uri) ?? ""), { s3Location: { uri } });
    throw unsupported("messages", `The upstream does not fetch URLs: the ${kind} must be sent inline, as base64.`);
  }

  #block(part: MediaPart, format: string, source: JsonObject): JsonObject {
    if (part.kind !== "document") return { [part.kind]: { format, source } };
    return { document: { format, name: this.#name(part.name), source } };
  }

  /** Replaces characters that are refused in document names. */
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

/** Source: Bedrock Runtime API, ImageBlock, DocumentBlock, AudioBlock, VideoBlock. */
const formats: Readonly<Record<MediaPart["kind"], readonly string[]>> = {
  image: ["png", "jpeg", "gif", "webp"],
  document: ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"],
  audio: ["mp3", "wav", "ogg", "opus", "flac", "aac", "mp4", "webm"],
  video: ["mp4", "mov", "webm", "mkv", "mpeg", "flv", "wmv", "three_gp"],
};

/** Bedrock's names for other extensions. */
const formatNames: ReadonlyMap<string, string> = new Map([
  ["m4a", "mp4"],
  ["3gp", "three_gp"],
]);

function formatOf({ kind }: MediaPart, mediaType: string): string {
  const extension = extensionOf(mediaType) ?? "";
  const format = formatNames.get(extension) ?? extension;
  if (formats[kind].includes(format)) return format;
  throw unsupported("messages", `The upstream does not read this type of ${kind}.`);
}

interface WriteOptions {
  readonly target: TurnTarget;
  readonly family: ModelFamily;
  readonly media: MediaWriter;
  readonly warn: Warn;
}

/** Writes alternating turns, the user first, with each call's result right after it. */
export function writeMessages(
  messages: readonly TurnMessage[],
  target: TurnTarget,
  family: ModelFamily,
  warn: Warn,
): JsonObject[] {
  const options: WriteOptions = { target, family, media: new MediaWriter(warn), warn };
  const sides = alternateTurns(messages, (part, role) => writePart(part, role, options), { answersLast: true, warn });
  const written = sides.map(({ role, answers, pieces }, index) => {
    if (role === "assistant") return { role, content: index === sides.length - 1 ? trimLastText(pieces) : pieces };
    return { role, content: withText([...writeResults(answers, options), ...pieces]) };
  });
  return written.filter(({ content }) => content.length > 0);
}

function writePart(
  part: Exclude<TurnPart, ToolResultPart>,
  role: TurnSide<JsonObject>["role"],
  { target, family, media, warn }: WriteOptions,
): JsonObject[] {
  switch (part.kind) {
    case "text":
      // Blank text makes Bedrock refuse the request.
      return isBlank(part.text) ? [] : [{ text: part.text }, ...writeCachePoint(part.cache, family)];
    case "refusal":
      return isBlank(part.text) ? [] : [{ text: part.text }];
    case "reasoning": {
      // Reasoning is only sent back to its own producer.
      const { seal, text, redacted } = part;
      if (seal !== null && canOpen(seal, "bedrock-converse", target.account)) {
        const reasoningText = { text, signature: seal.data };
        return [{ reasoningContent: redacted ? { redactedContent: seal.data } : { reasoningText } }];
      }
      warn("reasoning of another upstream was dropped");
      return [];
    }
    case "tool-call": {
      const input = argumentsObject(part.argumentsText, warn);
      const toolUse = { toolUseId: callId(part.id), name: shortToolName(part.name), input };
      return [{ toolUse }, ...writeCachePoint(part.cache, family)];
    }
    default:
      if (role === "user") return [media.write(part), ...writeCachePoint(part.cache, family)];
      warn("media in an answer of the model were dropped");
      return [];
  }
}

/** At most 64 characters of `[a-zA-Z0-9_-]`. */
function callId(id: string): string {
  return shortId(encodeName(id), "call_", 64);
}

function writeResults(answers: readonly CallAnswer[], options: WriteOptions): JsonObject[] {
  return answers.flatMap(([{ id }, result]) => {
    if (result !== undefined) return [writeResult(result, options), ...writeCachePoint(result.cache, options.family)];
    const content = [{ text: "The call was not carried out." }];
    return [{ toolResult: { toolUseId: callId(id), content, status: "error" } }];
  });
}

function writeResult({ callId: id, parts, isError }: ToolResultPart, { media }: WriteOptions): JsonObject {
  const content = parts.flatMap((part): JsonObject[] => {
    if (part.kind !== "text") return [media.write(part)];
    return isBlank(part.text) ? [] : [{ text: part.text }];
  });
  return {
    toolResult: {
      toolUseId: callId(id),
      content: content.length === 0 ? [{ text: isError ? "error" : "done" }] : content,
      ...(isError ? { status: "error" } : {}),
    },
  };
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** A prefill must not end in white space. */
function trimLastText(content: readonly JsonObject[]): readonly JsonObject[] {
  const text = content.at(-1)?.["text"];
  return typeof text === "string" ? content.with(-1, { text: text.trimEnd() }) : content;
}

/** A document must be accompanied by text. */
function withText(content: readonly JsonObject[]): readonly JsonObject[] {
  const bare = content.some((block) => block["document"] !== undefined) && !content.some((block) => "text" in block);
  return bare ? [...content, { text: "See the attached document." }] : content;
}
