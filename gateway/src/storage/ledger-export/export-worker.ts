import { serveOrders } from "#system/index.ts";
import { threadDatabase } from "../database/database-place.ts";
import { countHours, readPart } from "./export-reading.ts";
import type { ExportOrder, ExportReply } from "./ledger-reader.ts";

/** The thread that reads the ledger for its copies: its entry point, so importing it does have an effect, and only in a thread. */
const { open, close } = threadDatabase();

serveOrders<ExportOrder, ExportReply>({
  async work(order) {
    const database = await open();
    if (order.type === "count") return { type: "count", entries: await countHours(database, order.hours) };
    return { type: "part", part: await readPart(database, order.hour, order.from) };
  },
  moved: (reply) => (reply.type === "part" ? [reply.part.bytes.buffer as ArrayBuffer] : []),
  close,
});
