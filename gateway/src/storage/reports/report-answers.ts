import type { ReportStore } from "#ports/index.ts";
import { copyDatabaseTo } from "../database/database-copy.ts";
import { alertChecks, alertShadowMarks } from "./report-alert-evidence.ts";
import { alertProviders, alertSpend, alertTraffic } from "./report-alerts.ts";
import { auditPage } from "./report-audit.ts";
import { billedUsage } from "./report-bills.ts";
import type { ReportContext } from "./report-context.ts";
import { listCount } from "./report-count.ts";
import { guardrailChecks, guardrailFindings, requestChecks } from "./report-guardrails.ts";
import { keyList } from "./report-key-list.ts";
import { keyPage, keyUsage } from "./report-keys.ts";
import { attemptsOf, requestPage } from "./report-requests.ts";
import {
  requestSession,
  sessionAgents,
  sessionDetail,
  sessionPage,
  sessionRequests,
  sessionTools,
} from "./report-sessions.ts";
import { sortedRequestPage } from "./report-sorted.ts";
import { policyValues, spending } from "./report-spending.ts";
import {
  costs,
  dailySpend,
  deploymentUse,
  entryCount,
  modelUsage,
  personDailySpend,
  personSpend,
} from "./report-sums.ts";
import { textRequestPage } from "./report-text.ts";
import { requestTotals } from "./report-totals.ts";
import { usageReport } from "./report-usage.ts";
import { chargeback, usageTable, usageTags } from "./report-usage-table.ts";

const reportAnswers = {
  requests: requestPage,
  sortedRequests: sortedRequestPage,
  requestsWithText: textRequestPage,
  requestTotals,
  attempts: attemptsOf,
  requestChecks,
  guardrailChecks,
  guardrailFindings,
  usage: usageReport,
  usageRows: usageTable,
  usageTags,
  chargeback,
  sessions: sessionPage,
  sessionAgents,
  session: sessionDetail,
  sessionRequests,
  sessionTools,
  requestSession,
  costs,
  keyList,
  keys: keyPage,
  audit: auditPage,
  listCount,
  personSpend,
  modelUsage,
  deploymentUse,
  dailySpend,
  personDailySpend,
  spending,
  policyValues,
  keyUsage,
  alertTraffic,
  alertProviders,
  alertSpend,
  alertChecks,
  alertShadowMarks,
  billedUsage,
  entryCount,
  /** SQLite: copies the whole database into a file; its size in bytes. */
  copy: ({ connection }: ReportContext, path: string) => copyDatabaseTo({ kysely: connection }, path),
};

/** The questions of `ReportStore` by name, a count of entries, and a copy of the database. */
export type ReportKind = keyof typeof reportAnswers;
export type ReportArgs<Kind extends ReportKind> =
  Parameters<(typeof reportAnswers)[Kind]> extends [ReportContext, ...infer Args] ? Args : never;
export type ReportAnswer<Kind extends ReportKind> = Awaited<ReturnType<(typeof reportAnswers)[Kind]>>;
export type AskReport = <Kind extends ReportKind>(kind: Kind, args: ReportArgs<Kind>) => Promise<ReportAnswer<Kind>>;

/** The implementation behind the queries of a report store. */
export interface ReportSource {
  readonly ask: AskReport;
  /** null: unknown. */
  sizeBytes(): Promise<number | null>;
  readonly backup: ReportStore["backup"];
  close(): Promise<void>;
}

export async function answerReport<Kind extends ReportKind>(
  context: ReportContext,
  kind: Kind,
  args: readonly unknown[],
): Promise<ReportAnswer<Kind>> {
  const answer: (context: ReportContext, ...args: never[]) => Promise<unknown> = reportAnswers[kind];
  return (await answer(context, ...(args as never[]))) as ReportAnswer<Kind>;
}
