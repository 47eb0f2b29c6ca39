import { type Answer, type AnswerPart, type AnswerUsage, wholeText } from "../answer.ts";
import type { Dialect, Exchange, ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { type ChatRequest, readChat } from "./openai-chat-request.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/** OpenAI's chat completions, with any base path. */
export const openAiChat: Dialect = {
  id: "openai-chat",
  matches: ({ method, path }) => method === "POST" && path.endsWith("/chat/completions"),
  read: (request) => chatExchange(readChat(request), plainChat),
  headers: openAiHeaders,
  error: openAiError,
};

/** JSON text that a vendor with this API adds. */
export interface ChatVariant {
  /** The first event of a stream, before any choice. */
  readonly opening: string | null;
  /** Fields of the whole answer and of every choice, each followed by a comma. */
  readonly top: string;
  readonly choice: string;
}

const plainChat: ChatVariant = { opening: null, top: "", choice: "" };

export function chatExchange(request: ChatRequest, variant: ChatVariant): Exchange {
  return {
    parsed: request.parsed,
    ping: null,
    whole: (head, answer) => whole(request, variant, head, answer),
    events: (head, answer) => events(request, variant, head, answer),
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

function whole(request: ChatRequest, variant: ChatVariant, head: ReplyHead, answer: Answer): string {
  const { parsed } = request;
  const message = wholeMessage(head, answer);
  const text = answer.parts.find((part) => part.kind === "text");
  const logprobs = request.logprobs && text !== undefined ? JSON.stringify(wholeLogprobs(text)) : "null";
  let choices = "";
  for (let index = 0; index < answer.choices; index += 1) {
    const comma = index === 0 ? "" : ",";
    choices +=
      `${comma}{"index":${index},${variant.choice}"message":${message},"logprobs":${logprobs},` +
      `"finish_reason":"${finishOf(answer)}"}`;
  }
  const usage = answer.usage === null ? "" : `"usage":${JSON.stringify(usageOf(answer.usage))},`;
  return (
    `{"id":"${idOf(head)}","object":"chat.completion","created":${head.created},` +
    `"model":${JSON.stringify(parsed.model)},${variant.top}` +
    `"choices":[${choices}],${usage}"service_tier":"default","system_fingerprint":"${fingerprint}"}`
  );
}

function wholeMessage(head: ReplyHead, answer: Answer): string {
  const texts = answer.parts.filter((part) => part.kind === "text").map(wholeText);
  const text = texts.length === 0 ? "null" : JSON.stringify(texts.join(""));
  const isRefusal = answer.finish === "refusal";
  const field = head.script.reasoning_field;
  const thinking = answer.parts.find((part) => part.kind === "thinking");
  const reasoning =
    field === undefined || thinking === undefined ? "" : `"${field}":${JSON.stringify(wholeText(thinking))},`;
  const calls = callsOf(answer).map((part, index) => callJson(head, part, index, wholeText(part)));
  const toolCalls = calls.length === 0 ? "" : `,"tool_calls":[${calls.join(",")}]`;
  return (
    `{"role":"assistant",${reasoning}"content":${isRefusal ? "null" : text},"refusal":${isRefusal ? text : "null"},` +
    `"annotations":[]${toolCalls}}`
  );
}

/**
 * The role first, then the pieces, the finish reason of each choice, the usage chunk if requested, and [DONE]. Chunks are
 * concatenated as text, because at a hundred thousand events per second the serializer would be the bottleneck.
 */
function* events(request: ChatRequest, variant: ChatVariant, head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
  const { parsed, includeUsage } = request;
  const opening =
    `{"id":"${idOf(head)}","object":"chat.completion.chunk","created":${head.created},` +
    `"model":${JSON.stringify(parsed.model)},"service_tier":"default","system_fingerprint":"${fingerprint}","choices":[`;
  const closing = includeUsage && answer.usage !== null ? '],"usage":null}' : "]}";
  const chunk = (index: number, delta: string, logprobs: string, finish: string): string =>
    `${opening}{"index":${index},${variant.choice}"delta":${delta},"logprobs":${logprobs},` +
    `"finish_reason":${finish}}${closing}`;

  if (variant.opening !== null) yield { data: variant.opening, tokens: 0 };
  for (let index = 0; index < answer.choices; index += 1) {
    yield { data: chunk(index, firstDelta(answer, head), "null", "null"), tokens: 0 };
  }
  for (const [at, part] of visibleParts(answer, head).entries()) {
    yield* partEvents({ request, head, answer, part, first: at === 0, chunk });
  }
  for (let index = 0; index < answer.choices; index += 1) {
    yield { data: chunk(index, "{}", "null", `"${finishOf(answer)}"`), tokens: 0 };
  }
  if (includeUsage && answer.usage !== null) {
    yield { data: `${opening}],"usage":${JSON.stringify(usageOf(answer.usage))}}`, tokens: 0, role: "usage" };
  }
  yield { data: "[DONE]", tokens: 0, role: "terminal" };
}

interface PartContext {
  readonly request: ChatRequest;
  readonly head: ReplyHead;
  readonly answer: Answer;
  readonly part: AnswerPart;
  readonly first: boolean;
  readonly chunk: (index: number, delta: string, logprobs: string, finish: string) => string;
}

function* partEvents({ request, head, answer, part, first, chunk }: PartContext): Iterable<DialectEvent> {
  const call = part.kind === "call" ? callsOf(answer).indexOf(part) : -1;
  if (call >= 0 && !first) {
    const delta = `{"tool_calls":[{"index":${call},${callJson(head, part, call, "").slice(1)}]}`;
    for (let index = 0; index < answer.choices; index += 1)
      yield { data: chunk(index, delta, "null", "null"), tokens: 0 };
  }
  const [before, after] = deltaOf(part, call, head, answer);
  const tokens = part.kind === "thinking" ? 0 : 1;
  for (let at = 0; at < part.count; at += 1) {
    const piece = part.piece(at);
    const delta = before + JSON.stringify(piece) + after;
    const logprobs = request.logprobs && part.kind === "text" ? JSON.stringify(logprobsOf([piece])) : "null";
    for (let index = 0; index < answer.choices; index += 1) {
      yield { data: chunk(index, delta, logprobs, "null"), tokens, role: "content" };
    }
  }
}

/** The JSON before and after a piece. */
function deltaOf(part: AnswerPart, call: number, head: ReplyHead, answer: Answer): readonly [string, string] {
  if (part.kind === "thinking") return [`{"${head.script.reasoning_field ?? "reasoning_content"}":`, "}"];
  if (part.kind === "text") return [answer.finish === "refusal" ? '{"refusal":' : '{"content":', "}"];
  const custom = part.tool?.kind === "custom";
  return [
    `{"tool_calls":[{"index":${call},"${custom ? "custom" : "function"}":{"${custom ? "input" : "arguments"}":`,
    "}}]}",
  ];
}

function firstDelta(answer: Answer, head: ReplyHead): string {
  const first = visibleParts(answer, head)[0];
  if (first === undefined || first.kind !== "call") return '{"role":"assistant","content":"","refusal":null}';
  const call = callJson(head, first, 0, "");
  return `{"role":"assistant","content":null,"tool_calls":[{"index":0,${call.slice(1)}],"refusal":null}`;
}

function callJson(head: ReplyHead, part: AnswerPart, index: number, text: string): string {
  const name = part.tool?.name ?? "";
  const id = `call_sim${head.sequence}${index === 0 ? "" : `_${index}`}`;
  return JSON.stringify(
    part.tool?.kind === "custom"
      ? { id, type: "custom", custom: { name, input: text } }
      : { id, type: "function", function: { name, arguments: text } },
  );
}

/** Reasoning is only visible if the script sets a field for it. */
function visibleParts(answer: Answer, head: ReplyHead): readonly AnswerPart[] {
  const shown = head.script.reasoning_field !== undefined;
  return answer.parts.filter((part) => part.kind !== "image" && (shown || part.kind !== "thinking"));
}

function callsOf(answer: Answer): readonly AnswerPart[] {
  return answer.parts.filter((part) => part.kind === "call");
}

function idOf(head: ReplyHead): string {
  return `chatcmpl-sim${head.sequence}`;
}

const fingerprint = "fp_sluice_sim";

function finishOf(answer: Answer): string {
  const { finish } = answer;
  return finish === "length" || finish === "tool_calls" || finish === "content_filter" ? finish : "stop";
}

function usageOf(usage: AnswerUsage): unknown {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.output,
    total_tokens: usage.prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h,
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function wholeLogprobs(part: AnswerPart): unknown {
  return logprobsOf(Array.from({ length: part.count }, (_, index) => part.piece(index)));
}

function logprobsOf(tokens: readonly string[]): unknown {
  const content = tokens.map((token) => ({ token, logprob: -0.125, bytes: [...Buffer.from(token)], top_logprobs: [] }));
  return { content, refusal: null };
}
