/**
 * batches: many calls that run later, in the APIs of OpenAI, Anthropic and Gemini. A batch is a row in the database, and so is each of its
 * rows.
 *
 * row    one call of a batch. Its body is a part of the batch's input in the blob store.
 * piece  consecutive rows. Their money is held until the last of them has ended.
 * run    the gateway sends the rows of a batch through the relay, like calls of its key.
 *
 * Promises: rows are judged before the batch exists. A row that may have been executed is never sent again, even if the process dies; its
 * entry in the ledger is written once. Money is held for every open row, and given back piece by piece. Without the database no batch is
 * accepted, and running rows wait to be stored. Several processes may share one database.
 */

export { ArrayItems } from "./accept/array-items.ts";
export { geminiFileRows, geminiInlineRows, unnamedRow } from "./accept/gemini-rows.ts";
export { openaiRows } from "./accept/openai-rows.ts";
export type { SentRow } from "./accept/sent-row.ts";
export { batchBounds } from "./batch-bounds.ts";
export { Batches } from "./batches.ts";
export { withHeldBudgets } from "./row-call.ts";
export { type BatchStore, createBatchStore } from "./store/batch-store.ts";
