import { serveOrders } from "#system/index.ts";
import { threadDatabase } from "../database/database-place.ts";
import { countHours, readPart } from "./export-reading.ts";
import type { ExportOrder, ExportReply } from "./ledger-reader.ts";

/** Entry point of the export thread. */
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
