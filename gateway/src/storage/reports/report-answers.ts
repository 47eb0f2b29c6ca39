import { attemptsOf } from "./report-attempts.ts";
import { auditPage } from "./report-audit.ts";
import { costs } from "./report-costs.ts";
import type { ReportContext } from "./report-desk.ts";
import { keyPage, keyUsage } from "./report-keys.ts";
import type { ReportAnswer, ReportAsk, ReportKind } from "./report-messages.ts";
import { peopleUsage, personDailySpend } from "./report-people-usage.ts";
import { requestPage } from "./report-requests.ts";
import { sessionUsage } from "./report-sessions.ts";
import { spending } from "./report-spending.ts";
import { dailySpend, deploymentUse, entryCount, modelUsage } from "./report-sums.ts";
import { usageReading } from "./report-usage.ts";

/** How each question is answered, but for a copy of the database. */
export const reportAnswers: {
  readonly [Kind in Exclude<ReportKind, "copy">]: (
    context: ReportContext,
    ...ask: ReportAsk<Kind>
  ) => Promise<ReportAnswer<Kind>>;
} = {
  requests: requestPage,
  attempts: attemptsOf,
  usage: usageReading,
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
};
