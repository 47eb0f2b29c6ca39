import { serveOrders } from "#system/index.ts";
import { threadDatabase } from "../database/database-place.ts";
import type { ExplainOrder } from "./explain-queue.ts";
import { keepExplained, prepareForExplained, pruneExplained } from "./explain-rows.ts";

/**
 * The thread that writes explanations and captures: its entry point, so importing it does have an effect, and only in a
 * thread.
 */
const { open, close } = threadDatabase(prepareForExplained);

serveOrders({
  async work(order: ExplainOrder): Promise<number> {
    const database = await open();
    if (order.type === "prune") return pruneExplained(database, order.ages);
    await keepExplained(database, order.batch);
    return order.batch.explanations.length + order.batch.captures.length;
  },
  close,
});
