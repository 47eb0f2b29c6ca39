import type { Answer, AnswerEvent, RequestedTurn, Turn } from "#core/index.ts";
import type { ReasoningTraits } from "./turn/reasoning-traits.ts";
import type { UsageConvention } from "./usage/reading.ts";

/** Reports something that was dropped or changed: short ASCII without content of the call, returned in x-sluice-warnings. */
export type Warn = (what: string) => void;

/** A new id with this prefix, where the upstream gives none. */
export type NewId = (prefix: string) => string;

/** How a kind of upstream differs from the dialect's own vendor. */
export interface DialectTraits {
  /** max_tokens for dialects that require it, when the caller set none. Default 8192. */
  readonly outputTokensDefault?: number;
  /** openai-chat: name of the output cap. Default max_completion_tokens. */
  readonly outputCapName?: "max_tokens" | "max_completion_tokens";
  /** openai-chat: role of the instructions. Default system. */
  readonly instructionRole?: "system" | "developer";
  /** openai-chat: field in which earlier reasoning is sent back with its tool calls. Default none: it is not sent. */
  readonly reasoningField?: "reasoning_content" | "reasoning" | "none";
  /** How the model takes reasoning settings. Absent: they are sent as they are. */
  readonly reasoning?: ReasoningTraits;
  /**
   * openai-chat (Mistral): the assistant must speak after a tool result, instructions come first, call ids have nine letters or digits,
   * and a prefilled answer is marked. Default false.
   */
  readonly strictTurns?: boolean;
  /** openai-chat: stream_options are refused. Default false. */
  readonly noStreamOptions?: boolean;
  /** The upstream downloads media from URLs. Default: as the dialect's own vendor does. */
  readonly fetchesUrls?: boolean;
  /** openai-chat: web_search_options are accepted. Default: by models named for search. */
  readonly searchOptions?: boolean;
  /** anthropic-messages: the vendor's web search is not available. Default false. */
  readonly noWebSearch?: boolean;
  /**
   * Sampling parameters are refused, always or only while reasoning. `fixed`: but stop sequences are accepted (Kimi). `penalties`: only
   * penalties and stop sequences are refused (xAI). Default false.
   */
  readonly refusesSampling?: boolean | "while-reasoning" | "fixed" | "penalties";
  /** anthropic-messages: the upstream can drop thinking blocks whose context changed instead of refusing them. Default false. */
  readonly dropsMovedThoughts?: boolean;
  /** anthropic-messages: a conversation that ends with the assistant is refused. Default false. */
  readonly refusesPrefill?: boolean;
  /** openai-images: edits go to the generation endpoint, with the pictures as data URIs in `image` (Seedream). */
  readonly editsWhereItMakes?: boolean;
  /** gemini: ids on calls and results are refused; name and order match them (Vertex). */
  readonly noCallIds?: boolean;
  /** anthropic-messages: mark prompts for caching even if the caller did not. Default false. */
  readonly cacheMarks?: boolean;
  /** JSON schema output is not supported: plain JSON is requested with a warning. Default false. */
  readonly noSchemaOutput?: boolean;
  /** openai-chat: how tokens are counted. Default: like OpenAI. */
  readonly usage?: UsageConvention;
}

export interface TurnTarget {
  readonly upstreamModel: string;
  /** Our id of the account. Seals of other accounts are dropped. */
  readonly account: string;
  readonly traits: DialectTraits;
  readonly newId: NewId;
}

export interface AnswerContext {
  readonly turn: RequestedTurn;
  /** The public model name, used if the upstream returns none. */
  readonly model: string;
  /** Our id of the account that answers; stored in seals. */
  readonly account: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds now, for streams that end later. Absent for whole answers. */
  readonly now?: () => number;
  /** openai-chat: the caller asked for a usage chunk. */
  readonly wantsUsage: boolean;
  readonly newId: NewId;
  readonly warn: Warn;
}

/** A dialect as callers speak it. */
export interface CallerCodec {
  /** Throws Failure invalid_request. */
  readTurn(body: Uint8Array, facts: { readonly model: string; readonly stream: boolean }, warn: Warn): Turn;
  writeAnswer(answer: Answer, context: AnswerContext): Uint8Array;
  writeEvents(context: AnswerContext): EventWriter;
}

/** A dialect as upstreams speak it. */
export interface UpstreamCodec {
  /** The request body. Throws Failure unsupported_by_model if dropping something would change the answer. */
  writeTurn(turn: Turn, target: TurnTarget, warn: Warn): Uint8Array;
  /** Throws Failure upstream_error if the body is not an answer. */
  readAnswer(body: Uint8Array, source: AnswerSource): Answer;
  readEvents(emit: (event: AnswerEvent) => void, source: AnswerSource): EventReader;
}

export interface AnswerSource {
  readonly account: string;
  readonly newId: NewId;
  readonly warn: Warn;
  readonly usage?: UsageConvention | undefined;
}

/** Receives the data of each server-sent event in order. */
export interface EventReader {
  /** Throws Failure upstream_error for invalid events; unknown events are skipped. */
  read(data: string): void;
  /** Called when the stream is complete. Emits what is missing, `end` last. */
  end(): void;
}

/** Renders events as bytes for the caller. Returns whole events or an empty string. */
export interface EventWriter {
  /** The last event repeats the whole answer. Default false. */
  readonly repeatsOutput?: boolean;
  write(event: AnswerEvent): string;
}
