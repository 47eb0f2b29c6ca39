import { workerData } from "node:worker_threads";
import { serveOrders, trustAsTheProcess } from "#system/index.ts";
import { closeDatabase, type Database } from "../database/database.ts";
import { openInThread, type SentPlace } from "../database/database-place.ts";
import type { ExplainOrder } from "./explain-messages.ts";
import { keepExplained, prepareForExplained, pruneExplained } from "./explain-rows.ts";

/**
 * The thread that writes explanations and captures: its entry point, so importing it does have an effect, and only in a
 * thread. It opens the database with its first order.
 */
let opened: Promise<Database> | null = null;

serveOrders({
  async work(order: ExplainOrder): Promise<number> {
    const database = await open();
    if (order.type === "prune") return pruneExplained(database, order.ages);
    await keepExplained(database, order.batch);
    return order.batch.explanations.length + order.batch.captures.length;
  },
  async close() {
    if (opened !== null) await closeDatabase(await opened);
  },
});

function open(): Promise<Database> {
  opened ??= openFor(workerData as SentPlace).catch((thrown) => {
    opened = null;
    throw thrown;
  });
  return opened;
}

async function openFor(place: SentPlace): Promise<Database> {
  trustAsTheProcess();
  const database = await openInThread(place);
  await prepareForExplained(database);
  return database;
}
