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
  const resultOf = pairResults(turns);
  const paired = new Set(resultOf.values());
  const messages: Message[] = [];
  let calls: ToolCallPart[] = [];
  const answer = (): void => {
    const results = calls.map((call) => toolResult(call, resultOf.get(call), options));
    calls = [];
    append(messages, "user", results);
  };
  for (const { role, parts } of turns) {
    if (role === "system") options.warn("a system message inside the conversation was sent as user text");
    if (role !== "assistant") answer();
    const blocks = parts.flatMap((part) => blocksOf(part, role === "assistant", paired, options));
    append(messages, role === "assistant" ? role : "user", blocks);
    if (role === "assistant") calls.push(...parts.filter((part) => part.kind === "tool-call"));
  }
  answer();
  return repairEnds(messages, options);
}

export function isThinking(block: Block): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

function append(messages: Message[], role: Message["role"], blocks: readonly Block[]): void {
  if (blocks.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === role) last.content.push(...blocks);
  else messages.push({ role, content: [...blocks] });
}

function blocksOf(
  part: TurnPart,
  isModel: boolean,
  paired: ReadonlySet<ToolResultPart>,
  options: BlockOptions,
): Block[] {
  switch (part.kind) {
    case "text":
      return textBlocks(part.text, part.cache);
    case "refusal":
      return textBlocks(part.text);
    case "tool-result":
      return isModel || paired.has(part) ? [] : orphanResult(part, options);
    case "tool-call":
    case "reasoning":
      if (isModel) return part.kind === "reasoning" ? thinkingBlocks(part, options) : [toolUse(part, options.warn)];
      options.warn(`a ${part.kind} in a user message was left out`);
      return [];
    default:
      if (!isModel) return [mediaBlock(part, options)];
      options.warn("media in an assistant message cannot be carried and was left out");
      return [];
  }
}

function orphanResult(result: ToolResultPart, options: BlockOptions): Block[] {
  options.warn("a tool result without its call was sent as text");
  const named = result.name === null ? "a tool" : `the tool ${result.name}`;
  return [
    ...textBlocks(`Result of ${named}, whose call is not in this conversation:`),
    ...result.parts.flatMap((part) => (part.kind === "text" ? textBlocks(part.text) : [mediaBlock(part, options)])),
  ];
}

/** Thinking is only sent back to its own producer. */
function thinkingBlocks(part: ReasoningPart, options: BlockOptions): Block[] {
  const { seal } = part;
  if (seal === null || !canOpen(seal, "anthropic-messages", options.target.account)) return [];
  if (part.redacted) return [{ type: "redacted_thinking", data: seal.data }];
  return [{ type: "thinking", thinking: part.text, signature: seal.data }];
}

function repairEnds(messages: Message[], options: BlockOptions): Message[] {
  for (const { role, content } of messages) {
    if (role !== "assistant") continue;
    for (let last = content.at(-1); last !== undefined && isThinking(last); last = content.at(-1)) content.pop();
  }
  const kept: Message[] = [];
  for (const { role, content } of messages) append(kept, role, content);
  trimPrefill(kept);
  if (options.target.traits.refusesPrefill === true) askToContinue(kept, options.warn);
  if (kept[0]?.role === "assistant") {
    options.warn("the conversation began with the assistant: a user message was put before it");
    kept.unshift({ role: "user", content: textBlocks("(start of the conversation)") });
  }
  return kept;
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

/** Where prefill is refused, the model is asked to continue. Source: platform.claude.com, "Migrating away from prefilled responses". */
function askToContinue(messages: Message[], warn: Warn): void {
  if (messages.at(-1)?.role !== "assistant") return;
  warn("the beginning of the answer was sent with the wish to go on from there: the model takes no beginning");
  messages.push({ role: "user", content: textBlocks(continuePrompt) });
}

const continuePrompt =
  "Your last message is the beginning of your answer. Go on exactly where it ends, without repeating any of it and without a word about this.";

/** Matches each result with the earliest unanswered call of its id: ids may repeat in later turns. */
function pairResults(messages: readonly TurnMessage[]): ReadonlyMap<ToolCallPart, ToolResultPart> {
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  const unanswered = new Map<string, ToolCallPart[]>();
  for (const part of messages.flatMap((message) => message.parts)) {
    if (part.kind === "tool-call") {
      const calls = unanswered.get(part.id);
      if (calls === undefined) unanswered.set(part.id, [part]);
      else calls.push(part);
    } else if (part.kind === "tool-result") {
      const call = unanswered.get(part.callId)?.shift();
      if (call !== undefined) resultOf.set(call, part);
    }
  }
  return resultOf;
}

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
  if (result === undefined) {
    options.warn("a tool call without a result was answered with an error");
    return { ...head, content: "No result of this call is known.", is_error: true };
  }
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
  if (detail !== null && detail !== "auto") options.warn("the detail of images is not understood and was left out");
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
