import { bounds } from "#core/index.ts";
import type { Clock, Observer, ReportStore } from "#ports/index.ts";
import { type DatabasePlace, openPlace } from "../database/database-place.ts";
import { createReportStore } from "./report-store.ts";

interface ReportsOptions {
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

/** An answer (a list) that took at least this long is kept for reportKeptTimes times as long, up to the maximum. */
export const reportKeptFromMs = 40;
const reportListKeptFromMs = 100;
export const reportKeptTimes = 50;
export const reportKeptMsMax = 30_000;
/** Answers that are kept, and their characters in all. */
export const reportsKeptMax = 200;
const reportsKeptCharactersMax = 4 * 1024 * 1024;

/** Reports, some of whose answers are kept for a while. */
interface KeptReports extends ReportStore {
  /** Something that answers name has changed: what is asked from now on is read. */
  forget(): void;
}

const kinds = [
  "usage",
  "peopleUsage",
  "costs",
  "modelUsage",
  "deploymentUse",
  "dailySpend",
  "requests",
  "facts",
] as const;
type Keepable = (typeof kinds)[number];

interface Kept {
  /** Of its last reading, milliseconds. */
  readonly costMs: number;
  /** JSON, so that nobody changes what another is given; null: it was not dear enough to be kept. */
  readonly json: string | null;
  readonly untilMs: number;
}

/**
 * Answers that took long are given again for a time in proportion to that, so that asking the same again and again takes a bounded part of
 * a core. Dear is only what was dear twice in a row: a moment in which the machine was busy keeps nothing. The whole question is the key,
 * with the workspaces and people that it is limited to, so nobody gets what another may see. Neither money that limits go by nor what an
 * administrator has just changed is kept: spending, keys and the audit log are always read.
 */
export function keptAnswers(reports: ReportStore, clock: Pick<Clock, "monotonic">): KeptReports {
  const answers = new Map<string, Kept>();
  let characters = 0;
  let generation = 0;
  const drop = (question: string): void => {
    characters -= answers.get(question)?.json?.length ?? 0;
    answers.delete(question);
  };
  const keep = (question: string, kept: Kept): void => {
    drop(question);
    answers.set(question, kept);
    characters += kept.json?.length ?? 0;
    for (const oldest of answers.keys()) {
      if (answers.size <= reportsKeptMax && characters <= reportsKeptCharactersMax) return;
      drop(oldest);
    }
  };
  const keeping = (kind: Keepable) => {
    const ask = reports[kind] as (...asked: readonly unknown[]) => Promise<unknown>;
    return async (...asked: readonly unknown[]): Promise<unknown> => {
      const question = JSON.stringify([kind, ...asked]);
      const beganMs = clock.monotonic();
      const kept = answers.get(question);
      if (kept !== undefined && kept.json !== null && beganMs < kept.untilMs) return JSON.parse(kept.json);
      const began = generation;
      const answer = await ask(...asked);
      const nowMs = clock.monotonic();
      const costMs = nowMs - beganMs;
      const dearMs = Math.min(costMs, kept?.costMs ?? 0);
      // Lists are where somebody looks for the call that he has just made.
      const fromMs = kind === "requests" ? reportListKeptFromMs : reportKeptFromMs;
      if (began === generation) {
        const json = dearMs < fromMs ? null : JSON.stringify(answer);
        const forMs = Math.min(dearMs * reportKeptTimes, reportKeptMsMax);
        if (costMs >= fromMs) keep(question, { costMs, json, untilMs: nowMs + forMs });
        else drop(question);
      }
      return answer;
    };
  };
  return {
    ...reports,
    ...(Object.fromEntries(kinds.map((kind) => [kind, keeping(kind)])) as unknown as Pick<ReportStore, Keepable>),
    forget() {
      generation += 1;
      answers.clear();
      characters = 0;
    },
  };
}
