/**
 * alerts: rules on budgets, errors, latency, providers, spend, tokens and deliveries; the alerts that they open; messages to channels;
 * the inbox; scheduled reports. The SQL of its tables. One process at a time evaluates rules; a lease decides which one makes a report. While the database is unavailable nothing is evaluated or
 * sent, and both continue afterwards. A channel that fails is retried a bounded number of times, without delaying others.
 */
export { type AlertLog, type AlertViewer, createAlertLog, type StoredAlert } from "./alert-log.ts";
export { AlertSender } from "./alert-sender.ts";
export {
  type AlertSettings,
  type ChannelFields,
  createAlertSettings,
  type RuleFields,
  type StoredChannel,
  type StoredRule,
} from "./alert-settings.ts";
export { AlertWatch } from "./alert-watch.ts";
export type { AlertMessage } from "./messages.ts";
export { intervalBefore, lastDue, type Period } from "./reports/due-times.ts";
export type { ReportContent, ReportReading } from "./reports/report-content.ts";
export type { ReportMessage } from "./reports/report-messages.ts";
export { createReportRuns, type ReportRuns } from "./reports/report-runs.ts";
export { channelsOf, isReportChannel, type ReadReport, ReportWatch } from "./reports/report-watch.ts";
export {
  createScheduledReports,
  type ReportSchedule,
  type ScheduledReports,
  type StoredReport,
} from "./reports/scheduled-reports.ts";
