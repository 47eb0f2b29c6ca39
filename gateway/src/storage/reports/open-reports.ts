import { bounds } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { type DatabasePlace, openPlace } from "../database/database-place.ts";
import { type KeptReports, keptAnswers } from "./kept-answers.ts";
import { createReportStore } from "./report-store.ts";

export interface ReportsOptions {
  /** Migrated. */
  readonly place: DatabasePlace;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/** Reports on the database of an installation, on connections of their own. */
export async function openReports({ place, clock, observer }: ReportsOptions): Promise<KeptReports> {
  if (place.kind === "sqlite") {
    return keptAnswers(createReportStore({ databasePath: place.path, clock, observer }), clock);
  }
  // The server ends what takes longer than a report may.
  const database = await openPlace(place, { isChecked: true, statementMs: bounds.reportMs });
  const { createPostgresReportStore } = await import("./postgres-report-store.ts");
  const reports = createPostgresReportStore({ database, observer });
  const closing = {
    ...reports,
    async close() {
      await reports.close();
      await database.close();
    },
  };
  return keptAnswers(closing, clock);
}
