import type { Database } from "#storage/tables.ts";
import { batchReads } from "./batch-rows.ts";
import { batchWrites } from "./batch-writes.ts";
import { deadProcesses } from "./dead-processes.ts";
import { rowWrites } from "./row-writes.ts";

/** Batches and their rows. Any number of processes may share the store. */
export function createBatchStore({ database }: { readonly database: Database }) {
  return { ...batchReads(database), ...batchWrites(database), ...rowWrites(database), ...deadProcesses(database) };
}

export type BatchStore = ReturnType<typeof createBatchStore>;
