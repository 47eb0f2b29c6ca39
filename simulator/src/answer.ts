import { demoPieces, filler, inPieces, refusalPieces, thinkingPieces } from "./answer-text.ts";
import { bounds } from "./bounds.ts";
import type { ParsedRequest, RequestedTool } from "./parsed-request.ts";
import { sampleValue } from "./sample-value.ts";
import type { Finish, Script } from "./script.ts";

/** The answer before any dialect: the same parts for every choice. A piece of text or of a call's arguments is a token. */
export interface Answer {
  readonly choices: number;
  readonly parts: readonly AnswerPart[];
  readonly finish: Finish;
  /** Null when the script leaves usage out. */
  readonly usage: AnswerUsage | null;
  /** True totals, whatever the usage says. */
  readonly promptTokens: number;
  readonly reasoningTokens: number;
  /** Of all parts of all choices. */
  readonly contentTokens: number;
}

export interface AnswerPart {
  /** Thinking pieces show reasoning tokens, which are counted apart. An image is one piece. */
  readonly kind: "thinking" | "text" | "call" | "image";
  readonly count: number;
  piece(index: number): string;
  /** Of all pieces together. */
  readonly tokens: number;
  /** Of a call. */
  readonly tool: RequestedTool | null;
}

/** Totals: `prompt` holds the cached and the cache-written, `output` the reasoning. */
export interface AnswerUsage {
  readonly prompt: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
}

export function composeAnswer(asked: ParsedRequest, script: Script): Answer {
  const calls = script.finish === "refusal" ? [] : callsOf(asked, script);
  const { parts, cut } = withinMax(contentParts(asked, script, calls), asked.outputMax);
  const contentTokens = parts.reduce((sum, part) => sum + part.tokens, 0) * asked.choices;
  const reasoningTokens = script.reasoning_tokens ?? (asked.thinks ? thinkingPieces.length : 0);
  const promptTokens = script.prompt_tokens ?? asked.promptTokens;
  const natural = calls.length > 0 ? "tool_calls" : "stop";
  return {
    choices: asked.choices,
    parts: asked.thinks && reasoningTokens > 0 ? [thinkingPart(reasoningTokens), ...parts] : parts,
    finish: script.finish ?? (cut ? "length" : natural),
    usage: usageFor(script, {
      prompt: promptTokens,
      output: contentTokens + reasoningTokens,
      reasoning: reasoningTokens,
    }),
    promptTokens,
    reasoningTokens,
    contentTokens,
  };
}

/** The answer of a call that generates nothing. */
export function silentAnswer(promptTokens = 0): Answer {
  return { choices: 1, parts: [], finish: "stop", usage: null, promptTokens, reasoningTokens: 0, contentTokens: 0 };
}

/** What the script lets the usage say about true totals. */
export function usageFor(
  script: Script,
  totals: { readonly prompt: number; readonly output: number; readonly reasoning: number },
): AnswerUsage | null {
  if (script.no_usage === true) return null;
  if (script.zero_usage === true) {
    return { prompt: 0, cached: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
  }
  const cached = Math.min(script.cached_tokens ?? 0, totals.prompt);
  const cacheWrite = Math.min(script.cache_write_tokens ?? 0, totals.prompt - cached);
  const cacheWrite1h = Math.min(script.cache_write_1h_tokens ?? 0, totals.prompt - cached - cacheWrite);
  return { ...totals, cached, cacheWrite, cacheWrite1h };
}

function piecesPart(kind: AnswerPart["kind"], pieces: readonly string[], count = pieces.length): AnswerPart {
  const tokens = kind === "thinking" ? 0 : count;
  return { kind, count, piece: (index) => pieces[index % pieces.length] ?? "", tokens, tool: null };
}

/** The whole text of a part. */
export function wholeText(part: AnswerPart): string {
  let text = "";
  for (let index = 0; index < part.count; index += 1) text += part.piece(index);
  return text;
}

function callsOf(asked: ParsedRequest, script: Script): readonly RequestedTool[] {
  if (script.tool_calls === undefined) return asked.calls;
  const count = Math.min(script.tool_calls, asked.parallel ? bounds.callsMax : 1);
  if (asked.callable.length === 0) return [];
  return Array.from({ length: count }, (_, index) => asked.callable[index % asked.callable.length]).flatMap((tool) =>
    tool === undefined ? [] : [tool],
  );
}

function contentParts(asked: ParsedRequest, script: Script, calls: readonly RequestedTool[]): readonly AnswerPart[] {
  const padding = script.giant_event_bytes ?? 0;
  const imageTokens = script.image_tokens ?? imageTokensUsual;
  const image: AnswerPart = { kind: "image", count: 1, piece: () => "", tokens: imageTokens, tool: null };
  if (asked.image === "alone") return [image];
  const parts: AnswerPart[] = [];
  if (calls.length === 0) parts.push(padded(textPart(asked, script), padding, "text"));
  else if (script.preamble === true) parts.push(padded(piecesPart("text", filler, 4), padding, "text"));
  for (const tool of calls) parts.push(padded(callPart(tool, asked), parts.length === 0 ? padding : 0, tool.kind));
  return asked.image === null ? parts : [...parts, image];
}

/** Tokens of an image when no script says otherwise. */
export const imageTokensUsual = 16;

function textPart(asked: ParsedRequest, script: Script): AnswerPart {
  if (script.finish === "refusal") return piecesPart("text", refusalPieces);
  if (asked.schema !== null)
    return piecesPart("text", inPieces(JSON.stringify(sampleValue(asked.schema, topic(asked)))));
  if (script.tokens !== undefined) return piecesPart("text", filler, script.tokens);
  return piecesPart("text", demoPieces(asked.prompt));
}

function callPart(tool: RequestedTool, asked: ParsedRequest): AnswerPart {
  const text = tool.kind === "custom" ? topic(asked) : JSON.stringify(sampleValue(tool.parameters, topic(asked)));
  return { ...piecesPart("call", inPieces(text)), tool };
}

/** As many thinking events as tokens, up to a bound. */
function thinkingPart(tokens: number): AnswerPart {
  return piecesPart("thinking", thinkingPieces, Math.min(tokens, bounds.thinkingEventsMax));
}

/** Cuts the parts where the caller's maximum of output tokens is reached. An image is never cut. */
function withinMax(parts: readonly AnswerPart[], most: number): { parts: readonly AnswerPart[]; cut: boolean } {
  const kept: AnswerPart[] = [];
  let left = most;
  let cut = false;
  for (const part of parts) {
    const count = part.kind === "image" ? 1 : Math.min(part.count, left);
    cut ||= count < part.count;
    if (part.kind !== "image") left -= count;
    if (count === part.count) kept.push(part);
    else if (count > 0 || kept.length === 0) kept.push({ ...part, count, tokens: count });
  }
  return { parts: kept, cut };
}

/** The same part with a large first piece; arguments stay JSON, where space after a bracket means nothing. */
function padded(part: AnswerPart, bytes: number, shape: "text" | RequestedTool["kind"]): AnswerPart {
  if (bytes === 0) return part;
  const first = part.piece(0);
  const missing = Math.max(0, bytes - first.length);
  const full =
    shape === "function" ? first.slice(0, 1) + " ".repeat(missing) + first.slice(1) : first + "x".repeat(missing);
  return { ...part, piece: (index) => (index === 0 ? full : part.piece(index)) };
}

function topic(asked: ParsedRequest): string {
  return asked.prompt.split(/\s+/, 8).join(" ");
}
