import { bounds } from "#core/index.ts";
import { openReports } from "#storage/index.ts";
import type { Database } from "../src/storage/database/database.ts";
import { openReadOnly } from "../src/storage/database/open-database.ts";
import { priceReader } from "../src/storage/database/price-rows.ts";
import { PastSums } from "../src/storage/reports/past-sums.ts";
import { answerReport } from "../src/storage/reports/report-answers.ts";
import { Deadline, shuttingDown } from "../src/storage/reports/report-context.ts";
import { withAnswerCache } from "../src/storage/reports/report-store.ts";
import { ReportThreads } from "../src/storage/reports/report-threads.ts";

/**
 * Answers reports in this thread, on a separate reading connection: a gateway with a budget reads its spending with
 * the first call, and starting a thread for that takes as long as starting the gateway. Threads still make backups.
 * report-store.test.ts, the conformance suite, the acceptance tests and tests with `reportThreads` use the threads.
 */
export const reportingHere: typeof openReports = async ({ place, clock, observer }) => {
  if (place.kind !== "sqlite") return await openReports({ place, clock, observer });
  const threads = new ReportThreads({ databasePath: place.path, clock, observer });
  const pastSums = new PastSums();
  let database: Database | null = null;
  let closed = false;
  return withAnswerCache(
    {
      async ask(kind, args) {
        // A thread answers later too.
        await Promise.resolve();
        if (closed) throw shuttingDown();
        database ??= openReadOnly(place.path);
        const { kysely: connection, flavour } = database;
        const deadline = new Deadline(bounds.reportMs);
        const context = { connection, flavour, price: priceReader(connection), deadline, pastSums };
        return JSON.parse(JSON.stringify(await answerReport(context, kind, args)));
      },
      sizeBytes: () => threads.sizeBytes(),
      backup: () => threads.backup(),
      async close() {
        closed = true;
        await threads.close();
        await database?.close();
      },
    },
    clock,
  );
};
