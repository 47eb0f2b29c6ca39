import type { UsageFilter } from "#ports/index.ts";
import { copyDatabaseTo } from "../database/database-copy.ts";
import { auditPage } from "./report-audit.ts";
import type { ReportContext } from "./report-context.ts";
import { keyPage, keyUsage } from "./report-keys.ts";
import { peopleUsage } from "./report-people-usage.ts";
import { attemptsOf, requestPage } from "./report-requests.ts";
import { sessionUsage } from "./report-sessions.ts";
import { spending } from "./report-spending.ts";
import { costs, dailySpend, deploymentUse, entryCount, modelUsage, personDailySpend } from "./report-sums.ts";
import { usageReading } from "./report-usage.ts";

/** How each question is answered. */
const reportAnswers = {
  requests: requestPage,
  attempts: attemptsOf,
  usage: (context: ReportContext, filter: UsageFilter) => usageReading(context, filter),
  peopleUsage,
  sessions: sessionUsage,
  costs,
  keys: keyPage,
  audit: auditPage,
  modelUsage,
  deploymentUse,
  dailySpend,
  personDailySpend,
  spending,
  keyUsage,
  entryCount,
  /** SQLite: a whole copy of the database as it is at this moment, in a file; its size in bytes. */
  copy: ({ connection }: ReportContext, path: string) => copyDatabaseTo({ kysely: connection }, path),
};

type Answers = typeof reportAnswers;
/** What is asked: the questions of the port by their names, a count of entries, and a copy of the database into a file. */
export type ReportKind = keyof Answers;
export type ReportAsk<Kind extends ReportKind> =
  Parameters<Answers[Kind]> extends [ReportContext, ...infer Ask] ? Ask : never;
export type ReportAnswer<Kind extends ReportKind> = Awaited<ReturnType<Answers[Kind]>>;

export async function answerTo<Kind extends ReportKind>(
  kind: Kind,
  context: ReportContext,
  ask: ReportAsk<Kind>,
): Promise<ReportAnswer<Kind>> {
  const answer = reportAnswers[kind] as unknown as (
    context: ReportContext,
    ...ask: readonly unknown[]
  ) => Promise<ReportAnswer<Kind>>;
  return await answer(context, ...ask);
}
