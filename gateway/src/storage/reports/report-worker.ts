import { workerData } from "node:worker_threads";
import { sql } from "kysely";
import { Failure } from "#core/index.ts";
import { serveOrders } from "#system/index.ts";
import { closeDatabase, type Database } from "../database/database.ts";
import { openReadOnly } from "../database/open-database.ts";
import { priceReader } from "../database/price-rows.ts";
import { KeptDays } from "./kept-days.ts";
import { reportAnswers } from "./report-answers.ts";
import { Deadline, type ReportContext } from "./report-desk.ts";
import type { ReportOrder, ReportReply } from "./report-messages.ts";

/**
 * A thread that answers reports: its entry point, so importing it does have an effect, and only in a thread. No statement
 * is left open between two questions, so that nothing holds up the database's own log.
 */
const answers = { ...reportAnswers, copy: copyDatabase };

let database: Database | null = null;
const kept = new KeptDays();

serveOrders({
  async work({ kind, ask, ms }: ReportOrder): Promise<ReportReply> {
    try {
      database ??= openReadOnly(workerData as string);
      const context: ReportContext = {
        connection: database.kysely,
        flavour: database.flavour,
        price: priceReader(database.kysely),
        deadline: new Deadline(ms),
        kept,
      };
      const answer = answers[kind] as (context: ReportContext, ...ask: readonly unknown[]) => Promise<unknown>;
      return { type: "answer", json: JSON.stringify(await answer(context, ...ask)) };
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

function kindOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const code = "code" in thrown && typeof thrown.code === "string" ? ` ${thrown.code}` : "";
  return `${thrown.name}${code}`;
}

/** A whole copy of the database as it is at this moment, in a file that is there and empty. */
async function copyDatabase({ connection }: ReportContext, path: string): Promise<null> {
  await sql`vacuum into ${path}`.execute(connection);
  return null;
}
