import type { Database, ExplainWriter } from "#storage/index.ts";
import { pruneExplanations, writeExplanations } from "../src/storage/explain/explain-rows.ts";

/**
 * Writes explanations and captures in this thread, on the open connection: a separate thread costs a started
 * gateway as much as its first ten calls, and most tests are about something else. explain-queue.test.ts and the
 * acceptance tests use the thread.
 */
export function writingHere(database: Database): ExplainWriter {
  return {
    async keep(batch) {
      await writeExplanations(database, batch);
      return batch.explanations.length + batch.captures.length;
    },
    prune: (ages) => pruneExplanations(database, ages),
    end: async () => undefined,
  };
}
