import type { MessageDeltaUsage } from "@anthropic-ai/sdk/resources/messages";
import { type Answer, type AnswerPart, type AnswerUsage, wholeText } from "../answer.ts";
import type { ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { emptyMessage, nameOf, stopOf, toolUseId, usageOf } from "./anthropic-message.ts";
import type { MessagesRequest } from "./anthropic-request.ts";
import { signThinking } from "./thinking-binding.ts";

export const pingEvent: DialectEvent = { event: "ping", data: '{"type":"ping"}', tokens: 0 };

/** message_start, each block with its deltas (and a ping after the first start), message_delta with usage, message_stop. */
export function* anthropicEvents(request: MessagesRequest, head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
  yield eventOf("message_start", { message: { ...emptyMessage(request, head), ...startUsage(head, answer) } });
  for (const [index, part] of answer.parts.entries()) {
    yield eventOf("content_block_start", { index, content_block: emptyBlock(head, part, index) });
    if (index === 0) yield pingEvent;
    yield* deltas(request, part, index);
    yield eventOf("content_block_stop", { index });
  }
  const delta = { container: null, ...stopOf(request, answer) };
  const usage = answer.usage === null ? {} : { usage: deltaUsage(answer.usage) };
  yield { ...eventOf("message_delta", { delta, ...usage }), role: "usage" };
  yield { ...eventOf("message_stop", {}), role: "terminal" };
}

function* deltas(request: MessagesRequest, part: AnswerPart, index: number): Iterable<DialectEvent> {
  const before = `{"type":"content_block_delta","index":${index},"delta":{`;
  const deltaEvent = (fields: string, tokens: number): DialectEvent => ({
    event: "content_block_delta",
    data: `${before}${fields}}}`,
    tokens,
    role: "content",
  });
  if (part.kind === "thinking") {
    const thinking = request.thinkingShown ? wholeText(part) : "";
    for (let at = 0; at < part.count && request.thinkingShown; at += 1) {
      yield deltaEvent(`"type":"thinking_delta","thinking":${JSON.stringify(part.piece(at))}`, 0);
    }
    yield deltaEvent(`"type":"signature_delta","signature":"${signThinking(thinking, request.thinkingBinding)}"`, 0);
    return;
  }
  if (part.kind === "call") yield deltaEvent('"type":"input_json_delta","partial_json":""', 0);
  const kind = part.kind === "call" ? '"type":"input_json_delta","partial_json":' : '"type":"text_delta","text":';
  for (let at = 0; at < part.count; at += 1) yield deltaEvent(kind + JSON.stringify(part.piece(at)), 1);
}

function emptyBlock(head: ReplyHead, part: AnswerPart, index: number): unknown {
  if (part.kind === "thinking") return { type: "thinking", thinking: "", signature: "" };
  if (part.kind === "text") return { type: "text", text: "" };
  return { type: "tool_use", id: toolUseId(head, index), name: nameOf(part), input: {}, caller: { type: "direct" } };
}

/** The first event has the input tokens, and at most one output token. */
function startUsage(head: ReplyHead, answer: Answer): { usage?: unknown } {
  if (answer.usage === null) return {};
  const reported = head.script.late_usage === true ? { ...answer.usage, ...noTokens } : answer.usage;
  return {
    usage: {
      ...usageOf({ ...reported, output: Math.min(1, reported.output), reasoning: 0 }),
      output_tokens_details: null,
    },
  };
}

const noTokens = { prompt: 0, cached: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0 };

/** Cumulative totals, without the fields that only the first event has. */
function deltaUsage(usage: AnswerUsage): MessageDeltaUsage {
  const whole = usageOf(usage);
  return {
    input_tokens: whole.input_tokens,
    cache_creation_input_tokens: whole.cache_creation_input_tokens,
    cache_read_input_tokens: whole.cache_read_input_tokens,
    output_tokens: whole.output_tokens,
    output_tokens_details: whole.output_tokens_details,
    server_tool_use: whole.server_tool_use,
  };
}

function eventOf(type: string, fields: Readonly<Record<string, unknown>>): DialectEvent {
  return { event: type, data: JSON.stringify({ type, ...fields }), tokens: 0 };
}
