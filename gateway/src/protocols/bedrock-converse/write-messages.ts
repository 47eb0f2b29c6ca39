import type { ReasoningPart, ToolCallPart, ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import type { JsonObject } from "../json/value.ts";
import { opens } from "../turn/seal-text.ts";
import { argumentsObject, safeName, shortId, shortToolName } from "../turn/tool-calls.ts";
import { type ModelFamily, writeCachePoint } from "./model-family.ts";
import { MediaWriter } from "./write-media.ts";

export interface ConverseMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly JsonObject[];
}

interface Draft {
  readonly role: ConverseMessage["role"];
  readonly content: JsonObject[];
  readonly calls: ToolCallPart[];
  readonly results: ToolResultPart[];
}

interface WriteOptions {
  readonly target: TurnTarget;
  readonly family: ModelFamily;
  readonly media: MediaWriter;
  readonly warn: Warn;
}

/**
 * A conversation in turns, the user first, and behind a turn with calls the result of each before anything else, as
 * Bedrock demands.
 */
export function writeMessages(
  messages: readonly TurnMessage[],
  target: TurnTarget,
  family: ModelFamily,
  warn: Warn,
): ConverseMessage[] {
  const options: WriteOptions = { target, family, media: new MediaWriter(warn), warn };
  const drafts: Draft[] = [];
  for (const message of messages) {
    if (message.role === "system") warn("an instruction in the middle of the conversation was sent as user text");
    for (const part of message.parts) addPart(drafts, message, part, options);
  }
  const last = drafts.at(-1);
  if (last !== undefined && last.calls.length > 0) drafts.push(newDraft("user"));
  const written = drafts.map((draft, index): ConverseMessage => {
    if (draft.role === "assistant") {
      return { role: "assistant", content: index === drafts.length - 1 ? begun(draft.content) : draft.content };
    }
    const results = writeResults(drafts[index - 1]?.calls ?? [], draft.results, options);
    return { role: "user", content: withText([...results, ...draft.content]) };
  });
  if (written[0]?.role === "assistant") {
    warn("the conversation began with the model's words; a short user turn was put before them");
    written.unshift({ role: "user", content: [{ text: "Continue." }] });
  }
  return written.filter(({ content }) => content.length > 0);
}

function addPart(drafts: Draft[], message: TurnMessage, part: TurnPart, options: WriteOptions): void {
  const role = message.role === "assistant" ? "assistant" : "user";
  switch (part.kind) {
    case "text":
      // Blank texts are refused, and with them the whole conversation.
      if (isBlank(part.text)) return;
      draftOf(drafts, role).content.push({ text: part.text }, ...writeCachePoint(part.cache, options.family));
      return;
    case "refusal":
      if (!isBlank(part.text)) draftOf(drafts, role).content.push({ text: part.text });
      return;
    case "reasoning": {
      const written = writeReasoning(part, options.target);
      if (written !== null) draftOf(drafts, "assistant").content.push(written);
      else options.warn("reasoning of another upstream cannot be read by this one and was left out");
      return;
    }
    case "tool-call": {
      const draft = draftOf(drafts, "assistant");
      draft.calls.push(part);
      draft.content.push(writeCall(part, options.warn), ...writeCachePoint(part.cache, options.family));
      return;
    }
    case "tool-result":
      draftOf(drafts, "user").results.push(part);
      return;
    default:
      if (role === "assistant") options.warn("media among the model's own words were left out");
      else
        draftOf(drafts, role).content.push(options.media.write(part), ...writeCachePoint(part.cache, options.family));
  }
}

function draftOf(drafts: Draft[], role: Draft["role"]): Draft {
  const last = drafts.at(-1);
  if (last?.role === role) return last;
  const draft = newDraft(role);
  drafts.push(draft);
  return draft;
}

function newDraft(role: Draft["role"]): Draft {
  return { role, content: [], calls: [], results: [] };
}

/** Thoughts go back to whoever thought them; others would take them for words. */
function writeReasoning(part: ReasoningPart, target: TurnTarget): JsonObject | null {
  if (part.seal === null || !opens(part.seal, "bedrock-converse", target.account)) return null;
  if (part.redacted) return { reasoningContent: { redactedContent: part.seal.data } };
  return { reasoningContent: { reasoningText: { text: part.text, signature: part.seal.data } } };
}

function writeCall(call: ToolCallPart, warn: Warn): JsonObject {
  return {
    toolUse: {
      toolUseId: callId(call.id),
      name: shortToolName(call.name),
      input: argumentsObject(call.argumentsText, warn),
    },
  };
}

/** Ids as Bedrock takes them: its alphabet and at most 64 characters. */
function callId(id: string): string {
  return shortId(safeName(id), "call_", 64);
}

/** One result for each call, in their order; then, as text, those that no call asked for. */
function writeResults(
  calls: readonly ToolCallPart[],
  results: readonly ToolResultPart[],
  options: WriteOptions,
): JsonObject[] {
  const waiting = [...results];
  const answers = calls.flatMap((call) => {
    const at = waiting.findIndex((result) => result.callId === call.id);
    const result = at === -1 ? undefined : waiting.splice(at, 1)[0];
    if (result !== undefined) return [writeResult(result, options), ...writeCachePoint(result.cache, options.family)];
    options.warn("a tool call without a result was answered with an error");
    const content = [{ text: "The call was not carried out." }];
    return [{ toolResult: { toolUseId: callId(call.id), content, status: "error" } }];
  });
  const strays = waiting.flatMap((result): JsonObject[] => {
    options.warn("the result of a tool call that is not in the conversation was sent as user text");
    const said = result.parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
    const media = result.parts.flatMap((part) => (part.kind === "text" ? [] : [options.media.write(part)]));
    return [{ text: `Result of ${result.name ?? "a tool"}: ${said.join("\n")}` }, ...media];
  });
  return [...answers, ...strays];
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

/** The beginning of the answer, which must not end in white space. */
function begun(content: readonly JsonObject[]): readonly JsonObject[] {
  const text = content.at(-1)?.["text"];
  return typeof text === "string" ? content.with(-1, { text: text.trimEnd() }) : content;
}

/** A document must stand beside a text. */
function withText(content: readonly JsonObject[]): readonly JsonObject[] {
  const bare = content.some((block) => block["document"] !== undefined) && !content.some((block) => "text" in block);
  return bare ? [...content, { text: "See the attached document." }] : content;
}
