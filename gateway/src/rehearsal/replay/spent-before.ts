import type { SpendingSource } from "#limits/index.ts";
import { type Database, SpentUntil } from "#storage/in-thread.ts";

/** Earlier spending of budgets when the replay begins, from the ledger. Later costs are counted by the replay. */
export function spentBefore(database: Database, startMs: number): SpendingSource {
  const spent = new SpentUntil(database, startMs);
  return {
    reports: { spending: async (queries) => ({ spent: await spent.read(queries), recent: [] }) },
    settled: async () => undefined,
    observer: {
      log: (_level, message, fields) => {
        throw new Error(`${message}: ${String(fields?.["error"] ?? "")}`);
      },
    },
  };
}
