import type { Failure } from "./failure.ts";
import type { MediaSource, Seal, ToolCallPart } from "./turn.ts";
import type { Usage } from "./usage.ts";

/** What a model answered, whole, in neutral form. */
export interface Answer {
  /** The upstream's own id and model name; null when it gave none. */
  readonly id: string | null;
  readonly model: string | null;
  readonly blocks: readonly AnswerBlock[];
  readonly finish: Finish;
  /** null when the upstream reported none. */
  readonly usage: Usage | null;
}

export type AnswerBlock =
  | { readonly kind: "text"; readonly text: string; readonly citations?: readonly Citation[] }
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string; readonly seal: Seal | null; readonly redacted: boolean }
  | Omit<ToolCallPart, "cache">
  | { readonly kind: "image"; readonly source: MediaSource };

/** A source that words of an answer rest on. */
export interface Citation {
  /** Which characters of its block they are (UTF-16 units, `end` is behind the last); null: the whole block, or nobody says. */
  readonly span: { readonly start: number; readonly end: number } | null;
  readonly source: CitedSource;
  /** The words of the source; null when they are not told. */
  readonly quote: string | null;
}

export type CitedSource =
  | { readonly kind: "url"; readonly url: string; readonly title: string | null }
  /** A document of the request, or a file that the vendor keeps. `index`: which of the request's documents. */
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
  /** A server tool of the vendor paused the turn; the caller is to send it again. */
  | "pause"
  | "error";

export interface Finish {
  readonly reason: FinishReason;
  /** Which stop sequence was met, where the upstream says so. */
  readonly stopSequence: string | null;
}

/**
 * The same as a stream. Order: `start` first; blocks one after the other, never two open at once (a reader puts
 * interleaved ones in order); `usage` any time, the last one counts and replaces the ones before; `finish` after the
 * last block; `end` last. An `error` may take the place of anything and ends the stream.
 */
export type AnswerEvent =
  | { readonly kind: "start"; readonly id: string | null; readonly model: string | null }
  | { readonly kind: "block-start"; readonly block: BlockHead }
  /** Text, arguments (JSON text) or thoughts of the open block. Never empty; a call has at least one, {} without arguments. */
  | { readonly kind: "block-delta"; readonly text: string }
  /** Of the open block, which is a text. Its span counts from the block's begin and may reach behind what was said so far. */
  | { readonly kind: "block-citation"; readonly citation: Citation }
  /** The open block's seal, at the latest just before its end. */
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
