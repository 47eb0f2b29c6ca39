import type { FailureCode } from "#core/index.ts";
import type { ReportStore } from "#ports/index.ts";

/** What threads are asked: the questions of the port by their names, and a copy of the database into a file. */
export type ReportKind = Exclude<keyof ReportStore, "facts" | "backup" | "close"> | "entryCount" | "copy";

type Asked<Kind extends ReportKind> = Kind extends keyof ReportStore
  ? Parameters<ReportStore[Kind]>
  : Kind extends "copy"
    ? [path: string]
    : [];
type Answered<Kind extends ReportKind> = Kind extends keyof ReportStore
  ? Awaited<ReturnType<ReportStore[Kind]>>
  : Kind extends "entryCount"
    ? number
    : null;

export type ReportAsk<Kind extends ReportKind> = Asked<Kind>;
export type ReportAnswer<Kind extends ReportKind> = Answered<Kind>;

/** To a thread, one question at a time. */
export interface ReportOrder {
  readonly kind: ReportKind;
  readonly ask: readonly unknown[];
  readonly ms: number;
}

/** From a thread. What is not a Failure is told by its kind only: what a database says may hold a statement. */
export type ReportReply =
  /** JSON: read from text it holds the event loop for a quarter of the time that a copied object does. */
  | { readonly type: "answer"; readonly json: string }
  | { readonly type: "refusal"; readonly code: FailureCode; readonly message: string; readonly param: string | null }
  | { readonly type: "broken"; readonly detail: string };

/** The questions of the port, each asked by its name. */
export function reportQuestions(
  ask: <Kind extends Exclude<ReportKind, "copy">>(
    kind: Kind,
  ) => (...asked: ReportAsk<Kind>) => Promise<ReportAnswer<Kind>>,
): Omit<ReportStore, "facts" | "backup" | "close"> {
  return {
    requests: ask("requests"),
    attempts: ask("attempts"),
    usage: ask("usage"),
    peopleUsage: ask("peopleUsage"),
    sessions: ask("sessions"),
    costs: ask("costs"),
    keys: ask("keys"),
    audit: ask("audit"),
    modelUsage: ask("modelUsage"),
    deploymentUse: ask("deploymentUse"),
    dailySpend: ask("dailySpend"),
    personDailySpend: ask("personDailySpend"),
    spending: ask("spending"),
    keyUsage: ask("keyUsage"),
  };
}
