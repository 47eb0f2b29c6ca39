import type { ReportStore } from "#ports/index.ts";
import type { ReportAnswer, ReportAsk, ReportKind } from "./report-messages.ts";

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
