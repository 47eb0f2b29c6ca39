import { bounds } from "#core/index.ts";
import { openReports } from "#storage/index.ts";
import { closeDatabase, type Database } from "../src/storage/database/database.ts";
import { openReadOnly } from "../src/storage/database/open-database.ts";
import { priceReader } from "../src/storage/database/price-rows.ts";
import { keptAnswers } from "../src/storage/reports/kept-answers.ts";
import { KeptSums } from "../src/storage/reports/kept-sums.ts";
import { answerTo, type ReportAnswer, type ReportAsk, type ReportKind } from "../src/storage/reports/report-answers.ts";
import { Deadline, draining } from "../src/storage/reports/report-context.ts";
import { createReportStore, reportQuestions } from "../src/storage/reports/report-store.ts";

/**
 * Answers reports in this thread, on a reading connection of their own: a gateway with a budget asks what was spent as soon as
 * it is called, and the thread for that one question costs as much as the gateway's start. Backups and counts are made by the
 * threads all the same. report-store.test.ts, the conformance suite and the started programs of the acceptance tests ask the
 * threads, and so does whatever says `reportThreads`.
 */
export const reportingHere: typeof openReports = async ({ place, clock, observer }) => {
  if (place.kind !== "sqlite") return await openReports({ place, clock, observer });
  const threads = createReportStore({ databasePath: place.path, clock, observer });
  const kept = new KeptSums();
  let database: Database | null = null;
  let closed = false;
  const ask =
    <Kind extends Exclude<ReportKind, "copy">>(kind: Kind) =>
    async (...asked: ReportAsk<Kind>): Promise<ReportAnswer<Kind>> => {
      // Not within what the caller does: a thread answers later too.
      await Promise.resolve();
      if (closed) throw draining();
      database ??= openReadOnly(place.path);
      const { kysely: connection, flavour } = database;
      const deadline = new Deadline(bounds.reportMs);
      const context = { connection, flavour, price: priceReader(connection), deadline, kept };
      return JSON.parse(JSON.stringify(await answerTo(kind, context, asked)));
    };
  return keptAnswers(
    {
      ...threads,
      ...reportQuestions(ask),
      async close() {
        closed = true;
        await threads.close();
        if (database !== null) await closeDatabase(database);
      },
    },
    clock,
  );
};
