import { sql } from "kysely";
import { bounds, Failure } from "#core/index.ts";
import type { Observer, ReportStore } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { priceReader } from "../database/price-rows.ts";
import { KeptDays } from "./kept-days.ts";
import { reportAnswers } from "./report-answers.ts";
import { Deadline, late } from "./report-desk.ts";
import { type ReportAnswer, type ReportAsk, type ReportKind, reportQuestions } from "./report-messages.ts";

export interface PostgresReportStoreOptions {
  /** Migrated, and for this store alone: its reading connections are the questions that are answered at once. */
  readonly database: Database;
  readonly observer: Pick<Observer, "log">;
}

/** Reports on a PostgreSQL database: the server does the work, so no thread is needed. */
export function createPostgresReportStore({ database, observer }: PostgresReportStoreOptions): ReportStore {
  const price = priceReader(database.reading);
  const kept = new KeptDays();
  let waiting = 0;
  let closed = false;
  const ask =
    <Kind extends Exclude<ReportKind, "copy">>(kind: Kind) =>
    async (...asked: ReportAsk<Kind>): Promise<ReportAnswer<Kind>> => {
      if (closed) throw new Failure("draining", "The gateway is shutting down.");
      if (waiting >= bounds.reportsWaitingMax) {
        throw new Failure("rate_limit_exceeded", "Too much is asked of the console at once. Try again in a moment.", {
          retryAfterMs: bounds.reportMs,
        });
      }
      waiting += 1;
      try {
        const { reading: connection, flavour } = database;
        return await reportAnswers[kind](
          { connection, flavour, price, deadline: new Deadline(bounds.reportMs), kept },
          ...asked,
        );
      } catch (thrown) {
        if (isEnded(thrown)) throw late();
        if (thrown instanceof Failure) throw thrown;
        observer.log("error", "A report could not be read.", { report: kind, error: kindOf(thrown) });
        throw new Failure("internal_error", "This could not be read from the database.");
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

/** The server has ended the statement: query_canceled. */
function isEnded(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return ("code" in thrown && thrown.code === "57014") || isEnded(thrown.cause);
}

/** What a database says may hold a statement. */
function kindOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  return "code" in thrown && typeof thrown.code === "string" ? `${thrown.name} ${thrown.code}` : thrown.name;
}
