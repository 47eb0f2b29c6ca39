import { parentPort, workerData } from "node:worker_threads";
import { closeDatabase, type Database } from "../database/database.ts";
import { openDatabase } from "../database/open-database.ts";
import type { ExplainOrder, ExplainReport } from "./explain-messages.ts";
import { keepExplained, prepareForExplained, pruneExplained } from "./explain-rows.ts";

/**
 * The thread that writes explanations and captures: its entry point, so importing it does have an effect, and only in a
 * thread. It is given one order at a time, and opens the database with the first.
 */
if (parentPort !== null) listen(parentPort);

function listen(port: NonNullable<typeof parentPort>): void {
  const report = (message: ExplainReport) => port.postMessage(message);
  let opened: Promise<Database> | null = null;

  port.on("message", (order: ExplainOrder) => {
    obey(order).then(report, (error: unknown) => {
      report({ type: "failed", problem: error instanceof Error ? error.message : String(error) });
    });
  });

  async function obey(order: ExplainOrder): Promise<ExplainReport> {
    if (order.type === "end") {
      if (opened !== null) await closeDatabase(await opened).catch(() => undefined);
      setImmediate(() => port.close());
      return { type: "ended" };
    }
    const database = await open();
    if (order.type === "prune") return { type: "done", rows: await pruneExplained(database, order.ages) };
    await keepExplained(database, order.batch);
    return { type: "done", rows: order.batch.explanations.length + order.batch.captures.length };
  }

  function open(): Promise<Database> {
    opened ??= openFor(workerData as string).catch((thrown) => {
      opened = null;
      throw thrown;
    });
    return opened;
  }
}

async function openFor(path: string): Promise<Database> {
  const database = openDatabase({ path, create: false });
  await prepareForExplained(database);
  return database;
}
