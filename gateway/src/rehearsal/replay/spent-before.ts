import type { SpendingSource } from "#limits/index.ts";
import { type Database, spentUntil } from "#storage/in-thread.ts";

/** What budgets had spent when the replay begins, from the ledger. Later costs are counted by the replay. */
export function spentBefore(database: Database, startMs: number): SpendingSource {
  return {
    reports: {
      spending: async (queries) => ({ spent: await spentUntil(database, queries, startMs), recent: [] }),
    },
    settled: async () => undefined,
    observer: {
      log: (_level, message, fields) => {
        throw new Error(`${message}: ${String(fields?.["error"] ?? "")}`);
      },
    },
  };
}
