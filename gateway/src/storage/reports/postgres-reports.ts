import { sql } from "kysely";
import { bounds, Failure } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { priceReader } from "../database/price-rows.ts";
import { hasCode } from "../disk/files.ts";
import { PastSums } from "./past-sums.ts";
import {
  answerReport,
  type ReportAnswer,
  type ReportArgs,
  type ReportKind,
  type ReportSource,
} from "./report-answers.ts";
import {
  Deadline,
  errorKind,
  reportTimeout,
  shuttingDown,
  tooManyReports,
  unreadableReport,
} from "./report-context.ts";

export interface PostgresReportOptions {
  /** Migrated, and used by reports alone: its reading connections limit how many are answered at once. */
  readonly database: Database;
  readonly observer: Pick<Observer, "log">;
}

/** Reports on a PostgreSQL database: the server does the work, so no thread is needed. */
export function postgresReports({ database, observer }: PostgresReportOptions): ReportSource {
  const { reading: connection, flavour } = database;
  const price = priceReader(connection);
  const pastSums = new PastSums();
  let waiting = 0;
  let closed = false;
  return {
    async ask<Kind extends ReportKind>(kind: Kind, args: ReportArgs<Kind>): Promise<ReportAnswer<Kind>> {
      if (closed) throw shuttingDown();
      if (waiting >= bounds.reportsWaitingMax) throw tooManyReports();
      waiting += 1;
      try {
        const deadline = new Deadline(bounds.reportMs);
        return await answerReport({ connection, flavour, price, deadline, pastSums }, kind, args);
      } catch (thrown) {
        // The server ended the statement (query_canceled).
        if (hasCode(thrown, /^57014$/)) throw reportTimeout();
        throw thrown instanceof Failure ? thrown : unreadableReport(observer, kind, errorKind(thrown));
      } finally {
        waiting -= 1;
      }
    },
    async sizeBytes() {
      const size = sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`;
      return (await size.execute(connection)).rows[0]?.bytes ?? null;
    },
    async backup() {
      throw new Failure("invalid_request", "This database is on a PostgreSQL server. Back it up there with pg_dump.");
    },
    async close() {
      closed = true;
    },
  };
}
