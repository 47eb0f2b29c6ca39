import type { Answer, AnswerEvent, RequestedTurn, Turn } from "#core/index.ts";
import type { ReasoningTraits } from "./turn/reasoning-traits.ts";
import type { UsageConvention } from "./usage/reading.ts";

/** Says what could not be carried: short ASCII, no content of the call. The caller reads it in x-sluice-warnings. */
export type Warn = (what: string) => void;

/** A fresh id with this prefix, for things that the upstream's dialect does not name. */
export type NewId = (prefix: string) => string;

/** What a kind of upstream does differently from its dialect's own vendor. */
export interface DialectTraits {
  /** max_tokens for dialects that require it, when the caller set none. Default 8192. */
  readonly outputTokensDefault?: number;
  /** openai-chat: how the cap is called. Default max_completion_tokens. */
  readonly outputCapName?: "max_tokens" | "max_completion_tokens";
  /** openai-chat: the role that instructions get. Default system. */
  readonly instructionRole?: "system" | "developer";
  /** openai-chat: what earlier thoughts go back as, with the tool calls that they led to; absent or none: they do not. */
  readonly reasoningField?: "reasoning_content" | "reasoning" | "none";
  /** What the model takes of a request to reason. Absent: it is told as it is. */
  readonly reasoning?: ReasoningTraits;
  /**
   * openai-chat: after a tool the assistant speaks, the instructions stand before it, ids of calls have nine letters and digits, and
   * the beginning of an answer is marked as one; a conversation that is otherwise is refused (Mistral). Default false.
   */
  readonly strictTurns?: boolean;
  /** openai-chat: stream_options are refused. Default false. */
  readonly noStreamOptions?: boolean;
  /** The upstream downloads media from URLs. Default: as the dialect's own vendor does. */
  readonly fetchesUrls?: boolean;
  /** openai-chat: web_search_options are taken. Default: by models that are named for it. */
  readonly searchOptions?: boolean;
  /** anthropic-messages: the vendor's own web search is not there. Default false. */
  readonly noWebSearch?: boolean;
  /**
   * Sampling parameters are refused: Anthropic's version 2026-10-21, OpenAI's models that reason; some of those only while they do.
   * `fixed`: stop sequences are taken (Kimi). `penalties`: those and stop sequences alone are refused (xAI). Default false.
   */
  readonly refusesSampling?: boolean | "while-reasoning" | "fixed" | "penalties";
  /** anthropic-messages: it can be asked to drop thoughts whose conversation has changed, where it would refuse them. Default false. */
  readonly dropsMovedThoughts?: boolean;
  /** anthropic-messages: a conversation that ends with the assistant is refused. Default false. */
  readonly refusesPrefill?: boolean;
  /** openai-images: pictures to change are sent in `image`, as data URIs, to where pictures are made (Seedream). */
  readonly editsWhereItMakes?: boolean;
  /** gemini: a call and its result have no id, and are refused with one; their names and order say which is whose (Vertex). */
  readonly noCallIds?: boolean;
  /** anthropic-messages: a prompt is marked to be cached also where its caller does not ask for it. Default false. */
  readonly cacheMarks?: boolean;
  /** Schema output is not understood: ask for JSON in its place and warn. Default false. */
  readonly noSchemaOutput?: boolean;
  /** openai-chat: how tokens are counted. Default: as OpenAI counts them. */
  readonly usage?: UsageConvention;
}

export interface TurnTarget {
  readonly upstreamModel: string;
  /** Our id of the account that will read it: seals of others are left out. */
  readonly account: string;
  readonly traits: DialectTraits;
  readonly newId: NewId;
}

/** What a writer of answers must know of the call. */
export interface AnswerContext {
  readonly turn: RequestedTurn;
  /** The public name the caller used; given back where the upstream names none. */
  readonly model: string;
  /** Our id of the account that answers: seals are marked with it. */
  readonly account: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds now, where an answer may come to its end long after; absent: it is whole already. */
  readonly now?: () => number;
  /** Chat completions: the caller asked for a usage chunk. */
  readonly wantsUsage: boolean;
  readonly newId: NewId;
  readonly warn: Warn;
}

/** The caller's side of a dialect. */
export interface CallerCodec {
  /** Throws Failure invalid_request when the body cannot be understood. */
  readTurn(body: Uint8Array, facts: { readonly model: string; readonly stream: boolean }, warn: Warn): Turn;
  /** The whole answer's body. */
  writeAnswer(answer: Answer, context: AnswerContext): Uint8Array;
  writeEvents(context: AnswerContext): EventWriter;
}

/** The upstream's side of a dialect. */
export interface UpstreamCodec {
  /** The request's body. Throws Failure unsupported_by_model when the turn cannot be carried honestly. */
  writeTurn(turn: Turn, target: TurnTarget, warn: Warn): Uint8Array;
  /** Throws Failure upstream_error when the bytes are no answer. `account` marks seals. */
  readAnswer(body: Uint8Array, source: AnswerSource): Answer;
  readEvents(emit: (event: AnswerEvent) => void, source: AnswerSource): EventReader;
}

export interface AnswerSource {
  readonly account: string;
  readonly newId: NewId;
  /** What an answer holds that the neutral form does not. */
  readonly warn: Warn;
  /** openai-chat: how the upstream counts tokens. */
  readonly usage?: UsageConvention | undefined;
}

/** Is given the payload of each server-sent event (its data lines joined, comments left out), in order. */
export interface EventReader {
  /** Throws Failure upstream_error on what is not an event of the dialect; unknown events are passed over. */
  read(data: string): void;
  /** The bytes ended cleanly and the tap found the stream complete: says what is still missing, `end` last. */
  end(): void;
}

/** Renders events as the caller's bytes; the returned text is whole events, or nothing yet. */
export interface EventWriter {
  /** What was written may be written again before the stream ends. Default false. */
  readonly repeatsOutput?: boolean;
  write(event: AnswerEvent): string;
}
