import { type Answer, type AnswerPart, type AnswerUsage, wholeText } from "../answer.ts";
import type { ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { type JsonObject, parseObject } from "../json-body.ts";
import { sign } from "../seal.ts";
import { pngBase64 } from "../tiny-png.ts";
import type { GeminiRequest } from "./gemini-request.ts";

export function geminiWhole(request: GeminiRequest, head: ReplyHead, answer: Answer): string {
  if (head.script.blocked !== undefined) return JSON.stringify(blockedReply(request, head, answer));
  const parts = answer.parts.flatMap((part, index) => partOf(request, head, answer, part, index));
  const ending = endingPart(request, answer);
  const content = { parts: ending === null ? parts : [...parts, ending], role: "model" };
  const candidates = Array.from({ length: answer.choices }, (_, index) => ({
    content,
    finishReason: finishOf(answer),
    ...ratings(answer),
    index,
  }));
  return JSON.stringify({ candidates, ...usageField(request, answer.usage), ...tailOf(request, head) });
}

/** Every event is a complete response with new content; usage grows from event to event; the last one has the finish reason. */
export function* geminiEvents(request: GeminiRequest, head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
  if (head.script.blocked !== undefined) {
    yield { data: JSON.stringify(blockedReply(request, head, answer)), tokens: 0, role: "last" };
  } else {
    yield* candidateEvents(request, head, answer);
  }
  if (request.array) yield { data: "]", tokens: 0, role: "terminal" };
}

function* candidateEvents(request: GeminiRequest, head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
  const tail = JSON.stringify(tailOf(request, head)).slice(1);
  let emitted = 0;
  const event = (index: number, part: unknown, finish: string, usage: AnswerUsage | null): string => {
    const usageText = usage === null ? "" : `${JSON.stringify(usageField(request, usage)).slice(1, -1)},`;
    const content = `{"parts":[${JSON.stringify(part)}],"role":"model"}`;
    return `{"candidates":[{"content":${content},${finish}"index":${index}}],${usageText}${tail}`;
  };
  for (const [at, part] of answer.parts.entries()) {
    for (const { piece, tokens } of streamPieces(request, head, answer, part, at)) {
      for (let index = 0; index < answer.choices; index += 1) {
        emitted += tokens;
        yield { data: event(index, piece, "", soFar(answer, emitted)), tokens, role: "content" };
      }
    }
  }
  const finish = `"finishReason":"${finishOf(answer)}",`;
  for (let index = 0; index < answer.choices; index += 1) {
    const isLastChoice = index === answer.choices - 1;
    const data = event(index, endingPart(request, answer) ?? { text: "" }, finish, answer.usage);
    yield { data, tokens: 0, ...(isLastChoice ? { role: request.array ? "usage" : "last" } : {}) };
  }
}

/** Text is split into pieces; a call or an image is one piece with all its tokens. */
function* streamPieces(
  request: GeminiRequest,
  head: ReplyHead,
  answer: Answer,
  part: AnswerPart,
  at: number,
): Iterable<{ readonly piece: unknown; readonly tokens: number }> {
  if (part.kind === "call" || part.kind === "image") {
    for (const piece of partOf(request, head, answer, part, at)) yield { piece, tokens: part.tokens };
    return;
  }
  if (part.kind === "thinking" && !request.thoughtsShown) return;
  for (let index = 0; index < part.count; index += 1) {
    const text = part.piece(index);
    yield part.kind === "thinking" ? { piece: { text, thought: true }, tokens: 0 } : { piece: { text }, tokens: 1 };
  }
}

function partOf(
  request: GeminiRequest,
  head: ReplyHead,
  answer: Answer,
  part: AnswerPart,
  at: number,
): readonly JsonObject[] {
  if (part.kind === "thinking") return request.thoughtsShown ? [{ text: wholeText(part), thought: true }] : [];
  if (part.kind === "text") return [{ text: wholeText(part) }];
  if (part.kind === "image") {
    return [{ inlineData: { mimeType: "image/png", data: pngBase64(head.script.giant_event_bytes ?? 0) } }];
  }
  const name = part.tool?.name ?? "";
  const args = parseObject(Buffer.from(wholeText(part))) ?? {};
  const id = request.signs ? { id: `call_sim${head.sequence}_${at}` } : {};
  const first = answer.parts.find((candidate) => candidate.kind === "call") === part;
  return [{ functionCall: { ...id, name, args }, ...(first ? { thoughtSignature: sign("call", name) } : {}) }];
}

/** Models with signatures also put one after a text answer, in an empty part. */
function endingPart(request: GeminiRequest, answer: Answer): JsonObject | null {
  if (!request.signs || answer.parts.some((part) => part.kind === "call")) return null;
  return { text: "", thoughtSignature: sign("text", "") };
}

function blockedReply(request: GeminiRequest, head: ReplyHead, answer: Answer): JsonObject {
  const usage = answer.usage === null ? null : { ...answer.usage, output: 0, reasoning: 0 };
  const promptFeedback = { blockReason: head.script.blocked, safetyRatings: [] };
  return { promptFeedback, ...usageField(request, usage), ...tailOf(request, head) };
}

function tailOf(request: GeminiRequest, head: ReplyHead): JsonObject {
  return { modelVersion: request.parsed.model, responseId: `sim${head.sequence}` };
}

function soFar(answer: Answer, emitted: number): AnswerUsage | null {
  const { usage } = answer;
  return usage === null ? null : { ...usage, output: Math.min(usage.output, emitted + usage.reasoning) };
}

/** The prompt includes cached tokens; candidates exclude thoughts. Zero counts are omitted, as by the vendor. */
function usageField(request: GeminiRequest, usage: AnswerUsage | null): JsonObject {
  if (usage === null) return {};
  const { prompt, cached, output, reasoning } = usage;
  const modality = request.parsed.image === "alone" ? "IMAGE" : "TEXT";
  const visible = output - reasoning;
  return {
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: visible,
      totalTokenCount: prompt + output,
      ...(cached > 0 ? { cachedContentTokenCount: cached, cacheTokensDetails: [text(cached)] } : {}),
      promptTokensDetails: [text(prompt)],
      ...(request.parsed.image === null ? {} : { candidatesTokensDetails: [{ modality, tokenCount: visible }] }),
      ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    },
  };
}

function text(tokenCount: number): JsonObject {
  return { modality: "TEXT", tokenCount };
}

/** Tool calls have no finish reason of their own. */
function finishOf(answer: Answer): string {
  if (answer.finish === "length") return "MAX_TOKENS";
  if (answer.finish === "content_filter") return "SAFETY";
  return answer.finish === "refusal" ? "PROHIBITED_CONTENT" : "STOP";
}

function ratings(answer: Answer): JsonObject {
  if (answer.finish !== "content_filter") return {};
  return { safetyRatings: [{ category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "HIGH", blocked: true }] };
}
