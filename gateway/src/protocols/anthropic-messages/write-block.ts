import type { CacheHint, MediaPart, MediaSource, TextPart, ToolCallPart, ToolResultPart } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { argumentsObject, safeName } from "../turn/tool-calls.ts";

/** A content block on its way to the upstream. Cache marks are set and taken away after it is built. */
export interface Block {
  readonly type: string;
  cache_control?: CacheControl;
  readonly [member: string]: unknown;
}

export interface CacheControl {
  readonly type: "ephemeral";
  readonly ttl?: "5m" | "1h";
}

export function cacheControl(hint: CacheHint | null): { readonly cache_control?: CacheControl } {
  if (hint === null) return {};
  return { cache_control: hint.ttl === null ? { type: "ephemeral" } : { type: "ephemeral", ttl: hint.ttl } };
}

/** A text as a block; none for one that says nothing, which Anthropic refuses. */
export function textBlocks(text: string, cache: CacheHint | null = null): Block[] {
  return text.trim() === "" ? [] : [{ type: "text", text, ...cacheControl(cache) }];
}

export function toolUse(part: ToolCallPart, warn: Warn): Block {
  const { id, name, argumentsText, cache } = part;
  const input = argumentsObject(argumentsText, warn);
  return { type: "tool_use", id: safeName(id), name: safeName(name), input, ...cacheControl(cache) };
}

/** The result of a call; an error where the conversation has none, for Anthropic wants every call answered. */
export function toolResult(call: ToolCallPart, result: ToolResultPart | undefined, options: BlockOptions): Block {
  const head = { type: "tool_result", tool_use_id: safeName(call.id) };
  if (result === undefined) {
    options.warn("a tool call without a result was answered with an error");
    return { ...head, content: "No result of this call is known.", is_error: true };
  }
  const content = resultContent(result.parts, options);
  const cache = result.cache ?? result.parts.findLast((part) => part.cache !== null)?.cache ?? null;
  return {
    ...head,
    ...(content === null ? {} : { content }),
    ...(result.isError ? { is_error: true } : {}),
    ...cacheControl(cache),
  };
}

export interface BlockOptions {
  readonly target: TurnTarget;
  readonly warn: Warn;
}

export function mediaBlock(part: MediaPart, options: BlockOptions): Block {
  const { detail, name, cache } = part;
  if (part.kind !== "image" && part.kind !== "document") {
    throw unsupported("messages", `The upstream reads no ${part.kind}.`);
  }
  if (detail !== null && detail !== "auto") options.warn("the detail of images is not understood and was left out");
  const inline = part.source.kind === "url" ? readDataUri(part.source.url) : null;
  const source = (part.kind === "image" ? imageSource : documentSource)(inline ?? part.source, options);
  const title = part.kind === "document" && name !== null && name !== "" ? { title: name } : {};
  return { type: part.kind, source, ...title, ...cacheControl(cache) };
}

/** One plain text as a string, which every imitation of the API understands; more as blocks. */
function resultContent(parts: readonly (TextPart | MediaPart)[], options: BlockOptions): string | Block[] | null {
  const blocks = parts.flatMap((part) =>
    part.kind === "text" ? textBlocks(part.text) : [mediaBlock({ ...part, cache: null }, options)],
  );
  const [first, second] = blocks;
  if (first === undefined) return null;
  return second === undefined && typeof first["text"] === "string" ? first["text"] : blocks;
}

const imageTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function imageSource(source: MediaSource, options: BlockOptions): JsonObject {
  if (source.kind === "base64") {
    const mediaType = source.mediaType === "image/jpg" ? "image/jpeg" : source.mediaType;
    if (!imageTypes.has(mediaType)) {
      throw unsupported("messages", "The upstream reads JPEG, PNG, GIF and WebP pictures only.");
    }
    return { type: "base64", media_type: mediaType, data: source.data };
  }
  if (source.kind === "text") throw unsupported("messages", "A picture cannot be made of text.");
  return remoteSource(source, options);
}

function documentSource(source: MediaSource, options: BlockOptions): JsonObject {
  if (source.kind === "text") return textSource(source.text);
  if (source.kind === "base64") {
    const { mediaType, data } = source;
    if (mediaType === "application/pdf") return { type: "base64", media_type: mediaType, data };
    if (!mediaType.startsWith("text/") && mediaType !== "application/json") {
      throw unsupported("messages", "The upstream reads documents in PDF and plain text only.");
    }
    return textSource(Buffer.from(data, "base64").toString("utf8"));
  }
  if (source.kind === "url" && source.mediaType !== null && source.mediaType !== "application/pdf") {
    throw unsupported("messages", "The upstream downloads documents in PDF only.");
  }
  return remoteSource(source, options);
}

function textSource(data: string): JsonObject {
  return { type: "text", media_type: "text/plain", data };
}

function remoteSource(source: MediaSource & { readonly kind: "url" | "file" }, options: BlockOptions): JsonObject {
  if (source.kind === "file") {
    if (source.dialect === "anthropic-messages") return { type: "file", file_id: source.id };
    throw unsupported("messages", "A file uploaded to another vendor cannot be read by this upstream.");
  }
  if (options.target.traits.fetchesUrls === false || !/^https?:/i.test(source.url)) {
    throw unsupported("messages", "The upstream does not download from this address: send the content inline.");
  }
  return { type: "url", url: source.url };
}
