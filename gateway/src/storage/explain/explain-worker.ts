import { serveOrders } from "#system/index.ts";
import { threadDatabase } from "../database/database-place.ts";
import type { ExplainOrder } from "./explain-queue.ts";
import { prepareExplainDatabase, pruneExplanations, writeExplanations } from "./explain-rows.ts";

/** Entry point of the thread that writes explanations and captures. */
const { open, close } = threadDatabase(prepareExplainDatabase);

serveOrders({
  async work(order: ExplainOrder): Promise<number> {
    const database = await open();
    if (order.type === "prune") return pruneExplanations(database, order.ages);
    await writeExplanations(database, order.batch);
    return order.batch.explanations.length + order.batch.captures.length + order.batch.folded.length;
  },
  close,
});
