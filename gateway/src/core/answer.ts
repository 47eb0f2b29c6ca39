import type { Failure } from "./failure.ts";
import type { MediaSource, Seal, ToolCallPart } from "./turn.ts";
import type { Usage } from "./usage.ts";

/** A complete answer of a model in neutral form. */
export interface Answer {
  /** Id and model name of the upstream; null if absent. */
  readonly id: string | null;
  readonly model: string | null;
  readonly blocks: readonly AnswerBlock[];
  readonly finish: Finish;
  /** null if the upstream reported none. */
  readonly usage: Usage | null;
}

export type AnswerBlock =
  | { readonly kind: "text"; readonly text: string; readonly citations?: readonly Citation[] }
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string; readonly seal: Seal | null; readonly redacted: boolean }
  | Omit<ToolCallPart, "cache">
  | { readonly kind: "image"; readonly source: MediaSource };

/** A source of a part of an answer. */
export interface Citation {
  /** Range in its block in UTF-16 units, `end` exclusive; null for the whole block or unknown. */
  readonly span: { readonly start: number; readonly end: number } | null;
  readonly source: CitedSource;
  /** The quoted text of the source; null if absent. */
  readonly quote: string | null;
}

export type CitedSource =
  | { readonly kind: "url"; readonly url: string; readonly title: string | null }
  /** A document of the request (`index`), or a file stored by the vendor. */
  | {
      readonly kind: "file";
      readonly fileId: string | null;
      readonly name: string | null;
      readonly index: number | null;
    };

export type FinishReason =
  | "stop"
  | "stop-sequence"
  | "length"
  | "context-length"
  | "tool-calls"
  | "content-filter"
  | "refusal"
  /** A server tool of the vendor paused the turn; the caller should send it again. */
  | "pause"
  | "error";

export interface Finish {
  readonly reason: FinishReason;
  /** The stop sequence that matched, if the upstream reports it. */
  readonly stopSequence: string | null;
}

/**
 * An answer as a stream. Order: `start`; blocks, never two open at once (readers reorder interleaved ones); `finish` after the last
 * block; `end`. `usage` may come at any time, and the last one counts. An `error` may replace any event and ends the stream.
 */
export type AnswerEvent =
  | { readonly kind: "start"; readonly id: string | null; readonly model: string | null }
  | { readonly kind: "block-start"; readonly block: BlockHead }
  /** Text, arguments (JSON text) or reasoning of the open block. Never empty; a call has at least one, {} without arguments. */
  | { readonly kind: "block-delta"; readonly text: string }
  /** A citation of the open text block. Its span counts from the start of the block and may exceed the text so far. */
  | { readonly kind: "block-citation"; readonly citation: Citation }
  /** The seal of the open block, at the latest before its end. */
  | { readonly kind: "block-seal"; readonly seal: Seal }
  | { readonly kind: "block-end" }
  | { readonly kind: "usage"; readonly usage: Usage }
  | { readonly kind: "finish"; readonly finish: Finish }
  | { readonly kind: "error"; readonly failure: Failure }
  | { readonly kind: "end" };

export type BlockHead =
  | { readonly kind: "text" }
  | { readonly kind: "refusal" }
  | { readonly kind: "reasoning"; readonly redacted: boolean }
  | { readonly kind: "tool-call"; readonly id: string; readonly name: string }
  | { readonly kind: "image"; readonly source: MediaSource };
