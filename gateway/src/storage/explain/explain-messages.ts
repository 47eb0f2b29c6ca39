import type { NewRow } from "../database/schema.ts";

/** Rows that are written together. */
export interface ExplainBatch {
  readonly explanations: readonly NewRow<"request_explanations">[];
  readonly captures: readonly NewRow<"request_captures">[];
}

/** What is too old: explanations that began before, captures that began before or have expired by now. Unix milliseconds. */
export interface ExplainAges {
  readonly explanationsBefore: number;
  readonly capturesBefore: number;
  readonly now: number;
}

/** To the thread that writes; its reply is the number of rows. */
export type ExplainOrder =
  | { readonly type: "keep"; readonly batch: ExplainBatch }
  | { readonly type: "prune"; readonly ages: ExplainAges };
