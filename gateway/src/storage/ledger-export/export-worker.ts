import { workerData } from "node:worker_threads";
import { serveOrders, trustAsTheProcess } from "#system/index.ts";
import { closeDatabase, type Database } from "../database/database.ts";
import { openInThread, type SentPlace } from "../database/database-place.ts";
import type { ExportOrder, ExportReply } from "./export-messages.ts";
import { countHours, readPart } from "./export-reading.ts";

/**
 * The thread that reads the ledger for its copies: its entry point, so importing it does have an effect, and only in a thread. It opens
 * the database with its first order.
 */
let opened: Promise<Database> | null = null;

serveOrders<ExportOrder, ExportReply>({
  async work(order) {
    const database = await open();
    if (order.type === "count") return { type: "count", entries: await countHours(database, order.hours) };
    return { type: "part", part: await readPart(database, order.hour, order.from) };
  },
  moved: (reply) => (reply.type === "part" ? [reply.part.bytes.buffer as ArrayBuffer] : []),
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
  return await openInThread(place);
}
