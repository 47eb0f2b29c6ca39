import { demoPieces, filler, inPieces, refusalPieces, thinkingPieces } from "./answer-text.ts";
import { bounds } from "./bounds.ts";
import type { ParsedRequest, RequestedTool } from "./parsed-request.ts";
import { sampleValue } from "./sample-value.ts";
import type { Finish, Script } from "./script.ts";

/** An answer independent of dialect, with the same parts for every choice. A piece of text or of a call's arguments is one token. */
export interface Answer {
  readonly choices: number;
  readonly parts: readonly AnswerPart[];
  readonly finish: Finish;
  /** Null if the script omits usage. */
  readonly usage: AnswerUsage | null;
  /** The true totals, even if the usage reports others. */
  readonly promptTokens: number;
  readonly reasoningTokens: number;
  /** The sum over all parts of all choices. */
  readonly contentTokens: number;
}

export interface AnswerPart {
  /** Thinking pieces show reasoning tokens, which are counted separately. An image is one piece. */
  readonly kind: "thinking" | "text" | "call" | "image";
  readonly count: number;
  piece(index: number): string;
  /** The sum over all pieces. */
  readonly tokens: number;
  /** The called tool, for a call. */
  readonly tool: RequestedTool | null;
}

/** Totals: `prompt` includes cache reads and writes, `output` includes reasoning. */
export interface AnswerUsage {
  readonly prompt: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
}

export function composeAnswer(parsed: ParsedRequest, script: Script): Answer {
  const calls = script.finish === "refusal" ? [] : callsOf(parsed, script);
  const { parts, cut } = withinMax(contentParts(parsed, script, calls), parsed.outputMax);
  const contentTokens = parts.reduce((sum, part) => sum + part.tokens, 0) * parsed.choices;
  const reasoningTokens = script.reasoning_tokens ?? (parsed.thinks ? thinkingPieces.length : 0);
  const promptTokens = script.prompt_tokens ?? parsed.promptTokens;
  const natural = calls.length > 0 ? "tool_calls" : "stop";
  return {
    choices: parsed.choices,
    parts: parsed.thinks && reasoningTokens > 0 ? [thinkingPart(reasoningTokens), ...parts] : parts,
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

/** The answer to a call that generates nothing. */
export function silentAnswer(promptTokens = 0): Answer {
  return { choices: 1, parts: [], finish: "stop", usage: null, promptTokens, reasoningTokens: 0, contentTokens: 0 };
}

/** The usage that the script reports for these totals. */
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

/** The complete text of a part. */
export function wholeText(part: AnswerPart): string {
  let text = "";
  for (let index = 0; index < part.count; index += 1) text += part.piece(index);
  return text;
}

function callsOf(parsed: ParsedRequest, script: Script): readonly RequestedTool[] {
  if (script.tool_calls === undefined) return parsed.calls;
  const count = Math.min(script.tool_calls, parsed.parallel ? bounds.callsMax : 1);
  if (parsed.callable.length === 0) return [];
  return Array.from({ length: count }, (_, index) => parsed.callable[index % parsed.callable.length]).flatMap((tool) =>
    tool === undefined ? [] : [tool],
  );
}

function contentParts(parsed: ParsedRequest, script: Script, calls: readonly RequestedTool[]): readonly AnswerPart[] {
  const padding = script.giant_event_bytes ?? 0;
  const imageTokens = script.image_tokens ?? defaultImageTokens;
  const image: AnswerPart = { kind: "image", count: 1, piece: () => "", tokens: imageTokens, tool: null };
  if (parsed.image === "alone") return [image];
  const parts: AnswerPart[] = [];
  if (calls.length === 0) parts.push(padded(textPart(parsed, script), padding, "text"));
  else if (script.preamble === true) parts.push(padded(piecesPart("text", filler, 4), padding, "text"));
  for (const tool of calls) parts.push(padded(callPart(tool, parsed), parts.length === 0 ? padding : 0, tool.kind));
  return parsed.image === null ? parts : [...parts, image];
}

/** Tokens of an image if the script does not set them. */
export const defaultImageTokens = 16;

function textPart(parsed: ParsedRequest, script: Script): AnswerPart {
  if (script.finish === "refusal") return piecesPart("text", refusalPieces);
  if (parsed.schema !== null)
    return piecesPart("text", inPieces(JSON.stringify(sampleValue(parsed.schema, topic(parsed)))));
  if (script.tokens !== undefined) return piecesPart("text", filler, script.tokens);
  return piecesPart("text", demoPieces(parsed.prompt));
}

function callPart(tool: RequestedTool, parsed: ParsedRequest): AnswerPart {
  const text = tool.kind === "custom" ? topic(parsed) : JSON.stringify(sampleValue(tool.parameters, topic(parsed)));
  return { ...piecesPart("call", inPieces(text)), tool };
}

/** One thinking event per token, up to a maximum. */
function thinkingPart(tokens: number): AnswerPart {
  return piecesPart("thinking", thinkingPieces, Math.min(tokens, bounds.thinkingEventsMax));
}

/** Cuts the parts at the caller's maximum of output tokens. An image is never cut. */
function withinMax(parts: readonly AnswerPart[], max: number): { parts: readonly AnswerPart[]; cut: boolean } {
  const selected: AnswerPart[] = [];
  let left = max;
  let cut = false;
  for (const part of parts) {
    const count = part.kind === "image" ? 1 : Math.min(part.count, left);
    cut ||= count < part.count;
    if (part.kind !== "image") left -= count;
    if (count === part.count) selected.push(part);
    else if (count > 0 || selected.length === 0) selected.push({ ...part, count, tokens: count });
  }
  return { parts: selected, cut };
}

/** Enlarges the first piece of a part. Arguments remain JSON, because they are padded with spaces. */
function padded(part: AnswerPart, bytes: number, shape: "text" | RequestedTool["kind"]): AnswerPart {
  if (bytes === 0) return part;
  const first = part.piece(0);
  const missing = Math.max(0, bytes - first.length);
  const full =
    shape === "function" ? first.slice(0, 1) + " ".repeat(missing) + first.slice(1) : first + "x".repeat(missing);
  return { ...part, piece: (index) => (index === 0 ? full : part.piece(index)) };
}

function topic(parsed: ParsedRequest): string {
  return parsed.prompt.split(/\s+/, 8).join(" ");
}
