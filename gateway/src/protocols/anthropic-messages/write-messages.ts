import type {
  CacheHint,
  MediaPart,
  MediaSource,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
  TurnMessage,
  TurnPart,
} from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, unsupported, withoutNulls } from "../json/value.ts";
import { alternateTurns } from "../turn/alternation.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { canOpen } from "../turn/seal-text.ts";
import { argumentsObject, encodeName } from "../turn/tool-calls.ts";

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

/**
 * Writes a conversation as Anthropic requires it: alternating roles, the user first, each call answered at the start of the next message,
 * no empty text, no thinking at the end of a message.
 */
export function writeMessages(turns: readonly TurnMessage[], options: BlockOptions): Message[] {
  const sides = alternateTurns(turns, (part, role) => blocksOf(part, role, options), {
    answersLast: true,
    warn: options.warn,
  });
  const messages = sides.map(({ role, answers, pieces }) => {
    const results = answers.map(([call, result]) => toolResult(call, result, options));
    return { role, content: [...results, ...pieces] };
  });
  return repairEnds(messages, options);
}

export function isThinking(block: Block): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

function blocksOf(part: Exclude<TurnPart, ToolResultPart>, role: Message["role"], options: BlockOptions): Block[] {
  switch (part.kind) {
    case "text":
      return textBlocks(part.text, part.cache);
    case "refusal":
      return textBlocks(part.text);
    case "tool-call":
      return [toolUse(part, options.warn)];
    case "reasoning":
      return thinkingBlocks(part, options);
    default:
      if (role === "user") return [mediaBlock(part, options)];
      options.warn("media in an assistant message cannot be translated and was dropped");
      return [];
  }
}

/** Thinking is only sent back to its own producer. */
function thinkingBlocks(part: ReasoningPart, options: BlockOptions): Block[] {
  const { seal } = part;
  if (seal === null || !canOpen(seal, "anthropic-messages", options.target.account)) return [];
  if (part.redacted) return [{ type: "redacted_thinking", data: seal.data }];
  return [{ type: "thinking", thinking: part.text, signature: seal.data }];
}

function repairEnds(messages: readonly Message[], options: BlockOptions): Message[] {
  const repaired: Message[] = [];
  for (const { role, content } of messages) {
    if (role === "assistant") while (content.length > 0 && isThinking(content.at(-1) as Block)) content.pop();
    const last = repaired.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) repaired.push({ role, content });
  }
  trimPrefill(repaired);
  if (options.target.traits.refusesPrefill === true) askToContinue(repaired, options.warn);
  return repaired;
}

/** A prefill that is empty or ends in white space is refused. */
function trimPrefill(messages: Message[]): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== "assistant" || typeof block?.["text"] !== "string") return;
  const text = block["text"].trimEnd();
  if (text !== "") last.content[last.content.length - 1] = { ...block, text };
  else if (last.content.length > 1) last.content.pop();
  else messages.pop();
}

/** If prefill is refused, the model is asked to continue. Source: platform.claude.com, "Migrating away from prefilled responses". */
function askToContinue(messages: Message[], warn: Warn): void {
  if (messages.at(-1)?.role !== "assistant") return;
  warn("the prefilled answer was sent as a message, with a request to continue it");
  messages.push({ role: "user", content: textBlocks(continuePrompt) });
}

const continuePrompt =
  "Your last message is the beginning of your answer. Continue exactly where it ends. Do not repeat any of it, and do not mention this instruction.";

/** Cache marks are settled after the blocks are built. */
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
  return { cache_control: { type: "ephemeral", ...(hint.ttl === null ? {} : { ttl: hint.ttl }) } };
}

/** Anthropic refuses empty text. */
export function textBlocks(text: string, cache: CacheHint | null = null): Block[] {
  return text.trim() === "" ? [] : [{ type: "text", text, ...cacheControl(cache) }];
}

function toolUse(part: ToolCallPart, warn: Warn): Block {
  const { id, name, argumentsText, cache } = part;
  const input = argumentsObject(argumentsText, warn);
  return { type: "tool_use", id: encodeName(id), name: encodeName(name), input, ...cacheControl(cache) };
}

/** Calls without a result get an error, since Anthropic requires one. */
function toolResult(call: ToolCallPart, result: ToolResultPart | undefined, options: BlockOptions): Block {
  const head = { type: "tool_result", tool_use_id: encodeName(call.id) };
  if (result === undefined) return { ...head, content: "This call has no result.", is_error: true };
  const { parts, isError } = result;
  const blocks = parts.flatMap((part) =>
    part.kind === "text" ? textBlocks(part.text) : [mediaBlock({ ...part, cache: null }, options)],
  );
  // A single text is sent as a string, which all vendors of this API accept.
  const text = blocks.length === 1 ? blocks[0]?.["text"] : undefined;
  const content = blocks.length === 0 ? null : typeof text === "string" ? text : blocks;
  const cache = result.cache ?? parts.findLast((part) => part.cache !== null)?.cache ?? null;
  return { ...head, ...withoutNulls({ content, is_error: isError || null }), ...cacheControl(cache) };
}

export interface BlockOptions {
  readonly target: TurnTarget;
  readonly warn: Warn;
}

function mediaBlock(part: MediaPart, options: BlockOptions): Block {
  const { detail, name, cache } = part;
  if (part.kind !== "image" && part.kind !== "document") {
    throw unsupported("messages", `The upstream reads no ${part.kind}.`);
  }
  if (detail !== null && detail !== "auto") options.warn("the detail of images is not supported and was dropped");
  const inline = part.source.kind === "url" ? readDataUri(part.source.url) : null;
  const source = (part.kind === "image" ? imageSource : documentSource)(inline ?? part.source, options);
  const title = part.kind === "document" && name !== null && name !== "" ? { title: name } : {};
  return { type: part.kind, source, ...title, ...cacheControl(cache) };
}

const imageTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function imageSource(source: MediaSource, options: BlockOptions): JsonObject {
  if (source.kind === "base64") {
    const mediaType = source.mediaType === "image/jpg" ? "image/jpeg" : source.mediaType;
    if (!imageTypes.has(mediaType)) {
      throw unsupported("messages", "The upstream accepts only JPEG, PNG, GIF and WebP pictures.");
    }
    return { type: "base64", media_type: mediaType, data: source.data };
  }
  if (source.kind === "text") throw unsupported("messages", "An image source cannot be text.");
  return remoteSource(source, options);
}

function documentSource(source: MediaSource, options: BlockOptions): JsonObject {
  if (source.kind === "text") return textSource(source.text);
  if (source.kind === "base64") {
    const { mediaType, data } = source;
    if (mediaType === "application/pdf") return { type: "base64", media_type: mediaType, data };
    if (!mediaType.startsWith("text/") && mediaType !== "application/json") {
      throw unsupported("messages", "The upstream accepts only PDF and plain text documents.");
    }
    return textSource(Buffer.from(data, "base64").toString("utf8"));
  }
  if (source.kind === "url" && source.mediaType !== null && source.mediaType !== "application/pdf") {
    throw unsupported("messages", "The upstream downloads only PDF documents.");
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
