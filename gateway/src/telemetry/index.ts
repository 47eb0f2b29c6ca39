/**
 * telemetry: logs, metrics and their export.
 *
 * createObserver  the port Observer. Each request has an access line at level info, each failed attempt a warning; when many fail,
 *                 warnings are counted instead of written.
 * createMetrics   metrics for Prometheus. Labels come from the configuration, never from callers. The series of each metric are
 *                 bounded; further ones count as `other`.
 * mergeReports    merges the metrics of several workers.
 * openOtlp        exports traces, metrics and logs to an OpenTelemetry collector. Loaded only if an endpoint is set.
 * openRelay       forwards the telemetry of coding agents to that collector, with the identity of their key.
 * redacted        removes credentials from what is logged.
 *
 * Calls never throw and never wait. A stalled reader of the log loses lines, which are counted.
 */
export type { AccessLogMode } from "./access-log.ts";
export type { BudgetShare, WorkspaceLabels } from "./attempt-metrics.ts";
export { type MetricReport, mergeCounts, mergeReports, reportText, valueIn } from "./metric-reports.ts";
export { metricHelp } from "./metric-table.ts";
export { type BreakerNumber, createMetrics, type Metrics, type PolicyNumber } from "./metrics.ts";
export { createLogWriter, createObserver, guardedObserver, type ObserverOptions } from "./observer.ts";
export { type OtlpExport, openOtlp, openRelay, probeCollector, type TelemetryRelay } from "./open-otlp.ts";
export { isSecretHeader, isShownHeader, redacted } from "./redacted.ts";
