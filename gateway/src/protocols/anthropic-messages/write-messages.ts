import type { ReasoningPart, ToolCallPart, ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { opens } from "../turn/seal-text.ts";
import { type Block, type BlockOptions, mediaBlock, textBlocks, toolResult, toolUse } from "./write-block.ts";

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

/**
 * The conversation as Anthropic takes it: user and assistant in turn, the user first, every tool call answered at the
 * head of the very next message, no empty text, no thought at the end of a message.
 */
export function writeMessages(turns: readonly TurnMessage[], options: BlockOptions): Message[] {
  const pairs = pairResults(turns);
  const messages: Message[] = [];
  let calls: ToolCallPart[] = [];
  const answer = (): void => {
    const results = calls.map((call) => toolResult(call, pairs.resultOf.get(call), options));
    calls = [];
    append(messages, "user", results);
  };
  for (const { role, parts } of turns) {
    if (role === "assistant") {
      append(
        messages,
        "assistant",
        parts.flatMap((part) => spoken(part, options)),
      );
      calls.push(...parts.filter((part) => part.kind === "tool-call"));
      continue;
    }
    if (role === "system") options.warn("a system message inside the conversation was sent as user text");
    answer();
    append(
      messages,
      "user",
      parts.flatMap((part) => asked(part, pairs, options)),
    );
  }
  answer();
  return whole(messages, options);
}

/** Whether the block is a thought. */
export function isThinking(block: Block): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

function append(messages: Message[], role: Message["role"], blocks: readonly Block[]): void {
  if (blocks.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === role) last.content.push(...blocks);
  else messages.push({ role, content: [...blocks] });
}

/** A part of an assistant's message. */
function spoken(part: TurnPart, options: BlockOptions): Block[] {
  switch (part.kind) {
    case "text":
      return textBlocks(part.text, part.cache);
    case "refusal":
      return textBlocks(part.text);
    case "tool-call":
      return [toolUse(part, options.warn)];
    case "reasoning":
      return thought(part, options);
    case "tool-result":
      return [];
    default:
      options.warn("media in an assistant message cannot be carried and was left out");
      return [];
  }
}

/** A part of a user's message, but for the results that stand with their calls. */
function asked(part: TurnPart, pairs: Pairs, options: BlockOptions): Block[] {
  switch (part.kind) {
    case "text":
      return textBlocks(part.text, part.cache);
    case "tool-result":
      return pairs.paired.has(part) ? [] : orphan(part, options);
    case "tool-call":
    case "reasoning":
      options.warn(`a ${part.kind} in a user message was left out`);
      return [];
    case "refusal":
      return textBlocks(part.text);
    default:
      return [mediaBlock(part, options)];
  }
}

function orphan(result: ToolResultPart, options: BlockOptions): Block[] {
  options.warn("a tool result without its call was sent as text");
  const named = result.name === null ? "a tool" : `the tool ${result.name}`;
  return [
    ...textBlocks(`Result of ${named}, whose call is not in this conversation:`),
    ...result.parts.flatMap((part) => (part.kind === "text" ? textBlocks(part.text) : [mediaBlock(part, options)])),
  ];
}

/** A thought goes back to its own producer only, and never as text. */
function thought(part: ReasoningPart, options: BlockOptions): Block[] {
  const { seal } = part;
  if (seal === null || !opens(seal, "anthropic-messages", options.target.account)) return [];
  if (part.redacted) return [{ type: "redacted_thinking", data: seal.data }];
  return [{ type: "thinking", thinking: part.text, signature: seal.data }];
}

/** Mends both ends. */
function whole(messages: Message[], options: BlockOptions): Message[] {
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

/** A beginning of the answer that ends in white space is refused, as is an empty one. */
function trimPrefill(messages: Message[]): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== "assistant" || typeof block?.["text"] !== "string") return;
  const text = block["text"].trimEnd();
  if (text !== "") last.content[last.content.length - 1] = { ...block, text };
  else if (last.content.length > 1) last.content.pop();
  else messages.pop();
}

/**
 * A beginning of the answer where none is taken: the model is asked for the rest, which is what the caller expects.
 * Source: platform.claude.com, "Migrating away from prefilled responses", on continuations.
 */
function askToContinue(messages: Message[], warn: Warn): void {
  if (messages.at(-1)?.role !== "assistant") return;
  warn("the beginning of the answer was sent with the wish to go on from there: the model takes no beginning");
  messages.push({ role: "user", content: textBlocks(goOn) });
}

const goOn =
  "Your last message is the beginning of your answer. Go on exactly where it ends, without repeating any of it and without a word about this.";

/** Each tool call with its result; a call that no later result answers is not in it. */
interface Pairs {
  readonly resultOf: ReadonlyMap<ToolCallPart, ToolResultPart>;
  readonly paired: ReadonlySet<ToolResultPart>;
}

/** A result answers the earliest call before it that has its id and no result yet: ids may come again in later turns. */
function pairResults(messages: readonly TurnMessage[]): Pairs {
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  const paired = new Set<ToolResultPart>();
  const unanswered = new Map<string, ToolCallPart[]>();
  for (const part of messages.flatMap((message) => message.parts)) {
    if (part.kind === "tool-call") {
      const calls = unanswered.get(part.id);
      if (calls === undefined) unanswered.set(part.id, [part]);
      else calls.push(part);
    } else if (part.kind === "tool-result") {
      const call = unanswered.get(part.callId)?.shift();
      if (call === undefined) continue;
      resultOf.set(call, part);
      paired.add(part);
    }
  }
  return { resultOf, paired };
}
