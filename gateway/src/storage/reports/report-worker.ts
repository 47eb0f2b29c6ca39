import { workerData } from "node:worker_threads";
import { Failure } from "#core/index.ts";
import { serveOrders } from "#system/index.ts";
import { closeDatabase, type Database } from "../database/database.ts";
import { openReadOnly } from "../database/open-database.ts";
import { priceReader } from "../database/price-rows.ts";
import { KeptSums } from "./kept-sums.ts";
import { answerTo, type ReportAsk, type ReportKind } from "./report-answers.ts";
import { Deadline, kindOf } from "./report-context.ts";
import type { ReportOrder, ReportReply } from "./report-store.ts";

/**
 * A thread that answers reports: its entry point, so importing it does have an effect, and only in a thread. No statement
 * is left open between two questions, so that nothing holds up the database's own log.
 */
let database: Database | null = null;
const kept = new KeptSums();

serveOrders({
  async work({ kind, ask, ms }: ReportOrder): Promise<ReportReply> {
    try {
      database ??= openReadOnly(workerData as string);
      const context = {
        connection: database.kysely,
        flavour: database.flavour,
        price: priceReader(database.kysely),
        deadline: new Deadline(ms),
        kept,
      };
      return { type: "answer", json: JSON.stringify(await answerTo(kind, context, ask as ReportAsk<ReportKind>)) };
    } catch (thrown) {
      if (thrown instanceof Failure) {
        return { type: "refusal", code: thrown.code, message: thrown.message, param: thrown.param };
      }
      return { type: "broken", detail: kindOf(thrown) };
    }
  },
  async close() {
    if (database !== null) await closeDatabase(database);
  },
});
