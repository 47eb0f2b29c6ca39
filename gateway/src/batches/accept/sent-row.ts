import type { Failure } from "#core/index.ts";

/** A row as its caller sent it. */
export interface SentRow {
  /** From 1. */
  readonly line: number;
  /** null: it cannot be read. */
  readonly customId: string | null;
  /** The body of the call, or why there is none. */
  readonly body: Uint8Array | Failure;
}

/** Throws Failure for an input that is not a list of rows at all. */
export type SentRows = AsyncIterable<SentRow>;
