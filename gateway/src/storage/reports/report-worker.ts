import { workerData } from "node:worker_threads";
import { sql } from "kysely";
import { Failure } from "#core/index.ts";
import { serveOrders, systemClock } from "#system/index.ts";
import type { Database } from "../database/database.ts";
import { openReadOnly } from "../database/open-database.ts";
import { priceReader } from "../database/price-rows.ts";
import { PastSums } from "./past-sums.ts";
import { answerReport } from "./report-answers.ts";
import { Deadline, errorKind } from "./report-context.ts";
import type { ReportOrder, ReportReply } from "./report-threads.ts";

// Entry point of the report thread. No statement stays open between two questions, so that the write-ahead file can be truncated.
let database: Database | null = null;
const pastSums = new PastSums();
/** How long an idle thread keeps pages of the file. */
const pagesIdleMs = 5_000;
let cancelRelease = (): void => undefined;

/**
 * While many calls are made, alerts ask every 15 s, so the thread rarely ends. Between two questions it does not need 20 MB of the file's
 * pages.
 */
function releasePages({ kysely }: Database): void {
  void sql`pragma shrink_memory`.execute(kysely).catch(() => undefined);
}

serveOrders({
  async work({ kind, args, ms }: ReportOrder): Promise<ReportReply> {
    cancelRelease();
    try {
      database ??= openReadOnly(workerData as string);
      const { kysely: connection, flavour } = database;
      const context = { connection, flavour, price: priceReader(connection), deadline: new Deadline(ms), pastSums };
      const json = JSON.stringify(await answerReport(context, kind, args));
      return { type: "answer", json, isCaching: pastSums.bytes > 0 };
    } catch (thrown) {
      if (thrown instanceof Failure) {
        return { type: "refusal", code: thrown.code, message: thrown.message, param: thrown.param };
      }
      return { type: "broken", detail: errorKind(thrown) };
    } finally {
      const opened = database;
      if (opened !== null) cancelRelease = systemClock.after(pagesIdleMs, () => releasePages(opened));
    }
  },
  async close() {
    cancelRelease();
    await database?.close();
  },
});
