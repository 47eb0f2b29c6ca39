import type { Vault } from "#ports/index.ts";
import type { Database } from "#storage/tables.ts";
import { taskLeases } from "./task-leases.ts";
import { taskReads } from "./task-rows.ts";
import { taskWrites } from "./task-writes.ts";

/** Durable tasks: videos and background responses. Any number of processes may share the store. A final task never changes its state. */
export function createTaskStore({ database, vault }: { readonly database: Database; readonly vault: Vault }) {
  return { ...taskReads(database, vault), ...taskWrites(database, vault), ...taskLeases(database, vault) };
}

export type TaskStore = ReturnType<typeof createTaskStore>;
