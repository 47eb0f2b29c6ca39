import { workerData } from "node:worker_threads";
import { Failure } from "#core/index.ts";
import { serveOrders } from "#system/index.ts";
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

serveOrders({
  async work({ kind, args, ms }: ReportOrder): Promise<ReportReply> {
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
    }
  },
  async close() {
    await database?.close();
  },
});
