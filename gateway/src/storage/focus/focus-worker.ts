import { serveOrders } from "#system/index.ts";
import { threadDatabase } from "../database/database-place.ts";
import { type CloseFocusDay, closeFocusDay } from "./close-day.ts";
import type { CloseReply } from "./focus-store.ts";

/** Entry point of the thread that closes days for the FOCUS export. */
const { open, close } = threadDatabase();

serveOrders<CloseFocusDay, CloseReply>({
  async work(order) {
    const { day } = await closeFocusDay(await open(), order);
    return { day };
  },
  close,
});
