import { sql } from "kysely";
import { bounds, Failure } from "#core/index.ts";
import type { Observer, ReportStore } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { priceReader } from "../database/price-rows.ts";
import { hasCode } from "../disk/files.ts";
import { KeptSums } from "./kept-sums.ts";
import { answerTo, type ReportAnswer, type ReportAsk, type ReportKind } from "./report-answers.ts";
import { crowded, Deadline, draining, kindOf, late, unreadable } from "./report-context.ts";
import { reportQuestions } from "./report-store.ts";

export interface PostgresReportStoreOptions {
  /** Migrated, and for this store alone: its reading connections are the questions that are answered at once. */
  readonly database: Database;
  readonly observer: Pick<Observer, "log">;
}

/** Reports on a PostgreSQL database: the server does the work, so no thread is needed. */
export function createPostgresReportStore({ database, observer }: PostgresReportStoreOptions): ReportStore {
  const price = priceReader(database.reading);
  const kept = new KeptSums();
  let waiting = 0;
  let closed = false;
  const ask =
    <Kind extends Exclude<ReportKind, "copy">>(kind: Kind) =>
    async (...asked: ReportAsk<Kind>): Promise<ReportAnswer<Kind>> => {
      if (closed) throw draining();
      if (waiting >= bounds.reportsWaitingMax) throw crowded();
      waiting += 1;
      try {
        const { reading: connection, flavour } = database;
        return await answerTo(
          kind,
          { connection, flavour, price, deadline: new Deadline(bounds.reportMs), kept },
          asked,
        );
      } catch (thrown) {
        // The server has ended the statement.
        if (hasCode(thrown, /^57014$/)) throw late();
        throw thrown instanceof Failure ? thrown : unreadable(observer, kind, kindOf(thrown));
      } finally {
        waiting -= 1;
      }
    };
  const entryCount = ask("entryCount");
  return {
    ...reportQuestions(ask),
    facts: async () => ({ entries: await entryCount(), sizeBytes: await sizeOf(database) }),
    async backup() {
      throw new Failure("invalid_request", "This database is on a PostgreSQL server: back it up there, with pg_dump.");
    },
    async close() {
      closed = true;
    },
  };
}

async function sizeOf({ reading }: Database): Promise<number | null> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(reading);
  return rows[0]?.bytes ?? null;
}
