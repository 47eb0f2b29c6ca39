import type { Database, ExplainWriter } from "#storage/index.ts";
import { pruneExplanations, writeExplanations } from "../src/storage/explain/explain-rows.ts";

/**
 * Writes explanations and captures in this thread, on the connection that is open already: a thread of its own costs a started
 * gateway as much as its first ten calls, and most tests look at something else. explain-queue.test.ts and the started
 * programs of the acceptance tests write by the thread.
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
