import { type Answer, type AnswerPart, type AnswerUsage, wholeText } from "../answer.ts";
import type { Dialect, ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { type JsonObject, parseObject } from "../json-body.ts";
import type { SimulatorRequest } from "../request.ts";
import { sign } from "../seal.ts";
import { bedrockDialect } from "./bedrock-conventions.ts";
import { readConverse } from "./bedrock-converse-request.ts";

/** Bedrock's Converse and ConverseStream. */
export function bedrockConverse(secret: string | undefined): Dialect {
  const read = (request: SimulatorRequest, model: string, method: string) => ({
    parsed: readConverse(request, model, method === "converse-stream"),
    whole,
    events,
  });
  return bedrockDialect({ id: "bedrock-converse", methods: "converse", read }, secret);
}

function whole(head: ReplyHead, answer: Answer): string {
  const content = answer.parts.map((part, index) => blockOf(head, part, index));
  return JSON.stringify({
    metrics: { latencyMs: 1 },
    output: { message: { role: "assistant", content } },
    stopReason: stopOf(answer),
    ...(answer.usage === null ? {} : { usage: usageOf(answer.usage) }),
  });
}

function blockOf(head: ReplyHead, part: AnswerPart, index: number): JsonObject {
  const text = wholeText(part);
  if (part.kind === "thinking")
    return { reasoningContent: { reasoningText: { text, signature: sign("thinking", text) } } };
  if (part.kind === "text") return { text };
  return { toolUse: { ...toolOf(head, part, index), input: parseObject(Buffer.from(text)) ?? {} } };
}

/** messageStart, each block with its deltas (a text block has no start), messageStop, and then the usage. */
function* events(head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
  yield frame("messageStart", { role: "assistant" });
  for (const [index, part] of answer.parts.entries()) {
    if (part.kind === "call") {
      yield frame("contentBlockStart", { contentBlockIndex: index, start: { toolUse: toolOf(head, part, index) } });
    }
    for (let at = 0; at < part.count; at += 1) {
      const delta = deltaOf(part, part.piece(at));
      const tokens = part.kind === "thinking" ? 0 : 1;
      yield { ...frame("contentBlockDelta", { contentBlockIndex: index, delta }), tokens, role: "content" };
    }
    if (part.kind === "thinking") {
      const delta = { reasoningContent: { signature: sign("thinking", wholeText(part)) } };
      yield frame("contentBlockDelta", { contentBlockIndex: index, delta });
    }
    yield frame("contentBlockStop", { contentBlockIndex: index });
  }
  yield frame("messageStop", { stopReason: stopOf(answer) });
  const usage = answer.usage === null ? {} : { usage: usageOf(answer.usage) };
  yield { ...frame("metadata", { ...usage, metrics: { latencyMs: 1 } }), role: "last" };
}

function deltaOf(part: AnswerPart, piece: string): JsonObject {
  if (part.kind === "thinking") return { reasoningContent: { text: piece } };
  return part.kind === "text" ? { text: piece } : { toolUse: { input: piece } };
}

function toolOf(head: ReplyHead, part: AnswerPart, index: number): JsonObject {
  return { toolUseId: `tooluse_sim${head.sequence}_${index}`, name: part.tool?.name ?? "" };
}

function frame(event: string, data: JsonObject): DialectEvent {
  return { event, data: JSON.stringify({ ...data, p: "abcdefgh" }), tokens: 0 };
}

/** Input counts are disjoint, as in Messages. */
function usageOf(usage: AnswerUsage): JsonObject {
  const written = usage.cacheWrite + usage.cacheWrite1h;
  const cacheDetails = [
    { ttl: "5m", inputTokens: usage.cacheWrite },
    { ttl: "1h", inputTokens: usage.cacheWrite1h },
  ].filter((row) => row.inputTokens > 0);
  return {
    inputTokens: usage.prompt - usage.cached - written,
    outputTokens: usage.output,
    totalTokens: usage.prompt + usage.output,
    cacheReadInputTokens: usage.cached,
    cacheWriteInputTokens: written,
    ...(cacheDetails.length === 0 ? {} : { cacheDetails }),
  };
}

function stopOf({ finish }: Answer): string {
  switch (finish) {
    case "length":
      return "max_tokens";
    case "tool_calls":
      return "tool_use";
    case "content_filter":
    case "refusal":
      return "content_filtered";
    case "stop_sequence":
      return "stop_sequence";
    default:
      return "end_turn";
  }
}
