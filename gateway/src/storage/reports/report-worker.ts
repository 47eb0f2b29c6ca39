import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { Failure } from "#core/index.ts";
import { closeDatabase, type Database } from "../database/database.ts";
import { openReadOnly } from "../database/open-database.ts";
import { priceReader } from "../database/price-rows.ts";
import { attemptsOf } from "./report-attempts.ts";
import { auditPage } from "./report-audit.ts";
import { copyDatabase } from "./report-copy.ts";
import { Deadline, type ReportContext } from "./report-desk.ts";
import { keyUsage } from "./report-key-usage.ts";
import { keyPage } from "./report-keys.ts";
import type { ReportAnswer, ReportAsk, ReportKind, ReportOrder, ReportReply } from "./report-messages.ts";
import { requestPage } from "./report-requests.ts";
import { spending } from "./report-spending.ts";
import { dailySpend, deploymentUse, entryCount, modelUsage } from "./report-sums.ts";
import { usageReading } from "./report-usage.ts";

/**
 * A thread that answers reports: its entry point, so importing it does have an effect, and only in a thread. No statement
 * is left open between two questions, so that nothing holds up the database's own log.
 */
if (parentPort !== null) listen(parentPort);

const answers: {
  readonly [Kind in ReportKind]: (context: ReportContext, ...ask: ReportAsk<Kind>) => Promise<ReportAnswer<Kind>>;
} = {
  requests: requestPage,
  attempts: attemptsOf,
  usage: usageReading,
  keys: keyPage,
  audit: auditPage,
  modelUsage,
  deploymentUse,
  dailySpend,
  spending,
  keyUsage,
  entryCount,
  copy: copyDatabase,
};

function listen(port: NonNullable<typeof parentPort>): void {
  standBack();
  let database: Database | null = null;
  let path = "";
  port.on("message", (order: ReportOrder) => {
    switch (order.type) {
      case "start":
        path = order.databasePath;
        return;
      case "ask":
        void reply(order).then((said) => port.postMessage(said));
        return;
      case "end":
        void (database === null ? Promise.resolve() : closeDatabase(database)).finally(() => port.close());
        return;
    }
  });

  async function reply({ kind, ask, ms }: Extract<ReportOrder, { type: "ask" }>): Promise<ReportReply> {
    try {
      database ??= openReadOnly(path);
      const context: ReportContext = {
        connection: database.kysely,
        price: priceReader(database.kysely),
        deadline: new Deadline(ms),
      };
      const answer = answers[kind] as (context: ReportContext, ...ask: readonly unknown[]) => Promise<unknown>;
      return { type: "answer", json: JSON.stringify(await answer(context, ...ask)) };
    } catch (thrown) {
      if (thrown instanceof Failure) {
        return { type: "refusal", code: thrown.code, message: thrown.message, param: thrown.param };
      }
      return { type: "broken", detail: kindOf(thrown) };
    }
  }
}

/** Calls of models come first: on Linux a thread's niceness is its own, elsewhere it would be the whole process's. */
function standBack(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, niceness);
  } catch {
    // Not allowed here: then it competes like the others.
  }
}

const niceness = 5;

function kindOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const code = "code" in thrown && typeof thrown.code === "string" ? ` ${thrown.code}` : "";
  return `${thrown.name}${code}`;
}
