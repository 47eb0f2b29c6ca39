import type { ContentBlock, Message, StopReason, TextBlock, Usage } from "@anthropic-ai/sdk/resources/messages";
import { type Answer, type AnswerPart, type AnswerUsage, wholeText } from "../answer.ts";
import type { ReplyHead } from "../dialect.ts";
import { parseObject } from "../json-body.ts";
import type { MessagesRequest } from "./anthropic-request.ts";
import { signThinking, transformationsOf } from "./thinking-binding.ts";

/** A complete Message. */
export function anthropicWhole(request: MessagesRequest, head: ReplyHead, answer: Answer): string {
  return JSON.stringify(messageOf(request, head, answer));
}

/** As the API sends it: the types require `citations: null` in text without citations, but the API omits the field. */
type SentBlock = Exclude<ContentBlock, TextBlock> | Omit<TextBlock, "citations">;

interface SentMessage extends Omit<Partial<Message>, "content"> {
  readonly content: readonly SentBlock[];
}

function messageOf(request: MessagesRequest, head: ReplyHead, answer: Answer): SentMessage {
  const usage = answer.usage === null ? {} : { usage: usageOf(answer.usage) };
  return {
    ...emptyMessage(request, head),
    content: answer.parts.map((part, index) => blockOf(request, head, part, index)),
    ...stopOf(request, answer),
    ...usage,
  };
}

/** The message of message_start, without usage. */
export function emptyMessage(request: MessagesRequest, head: ReplyHead): Omit<Message, "usage"> {
  return {
    id: `msg_sim${head.sequence}`,
    type: "message",
    role: "assistant",
    model: request.parsed.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    ...transformationsOf(request.moved),
  };
}

export function stopOf(
  request: MessagesRequest,
  answer: Answer,
): Pick<Message, "stop_reason" | "stop_sequence" | "stop_details"> {
  const reason = stopReasons[answer.finish];
  return {
    stop_reason: reason,
    stop_sequence: reason === "stop_sequence" ? (request.stops[0] ?? "\n\n") : null,
    stop_details: reason === "refusal" ? { type: "refusal", category: null, explanation: null } : null,
  };
}

const stopReasons: Readonly<Record<Answer["finish"], StopReason>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
  refusal: "refusal",
  stop_sequence: "stop_sequence",
  pause: "pause_turn",
  failed: "end_turn",
};

/** Input counts are disjoint in this dialect; the answer's prompt includes all of them. */
export function usageOf(usage: AnswerUsage): Usage {
  const written = usage.cacheWrite + usage.cacheWrite1h;
  return {
    input_tokens: usage.prompt - usage.cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: usage.cached,
    cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite, ephemeral_1h_input_tokens: usage.cacheWrite1h },
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    server_tool_use: null,
    service_tier: "standard",
    inference_geo: "not_available",
    speed: null,
  };
}

function blockOf(request: MessagesRequest, head: ReplyHead, part: AnswerPart, index: number): SentBlock {
  const text = wholeText(part);
  if (part.kind === "thinking") {
    const thinking = request.thinkingShown ? text : "";
    return { type: "thinking", thinking, signature: signThinking(thinking, request.thinkingBinding) };
  }
  if (part.kind === "text") return { type: "text", text };
  const input = parseObject(Buffer.from(text)) ?? {};
  return { type: "tool_use", id: toolUseId(head, index), name: nameOf(part), input, caller: { type: "direct" } };
}

/** Unique for each block of each answer. */
export function toolUseId(head: ReplyHead, index: number): string {
  return `toolu_sim${head.sequence}_${index}`;
}

export function nameOf(part: AnswerPart): string {
  return part.tool?.name ?? "";
}
