/**
 * telemetry: what the running gateway tells about itself.
 *
 * createObserver  the port Observer: a log line for what an operator should see, a number for everything. Each request
 *                 has an access line at level info, by which it is found again; failed attempts are one warning each, and a
 *                 storm of them is counted instead of written.
 * createMetrics   numbers for Prometheus. Labels come from configured things, never from what a caller wrote, and each
 *                 metric has a bound on its series, beyond which it counts under `other`.
 * mergeReports    the numbers of several workers made one.
 * openOtlp        sends traces, metrics and logs to a collector, as OpenTelemetry says. Loaded where an endpoint is set.
 * openRelay       passes the telemetry of coding agents on to that collector, in the name of whoever they call for.
 * redacted        takes credentials out of whatever is about to be logged, by name and by looks.
 *
 * When the world is down: calls never throw and never wait. A reader of the log that stalls loses lines, told of later.
 */
export type { AccessLogMode } from "./access-log.ts";
export type { BudgetShare, WorkspaceLabels } from "./attempt-metrics.ts";
export { type MetricReport, mergeCounts, mergeReports, reportText, valueIn } from "./metric-reports.ts";
export { metricHelp } from "./metric-table.ts";
export { type BreakerNumber, createMetrics, type Metrics } from "./metrics.ts";
export { createLogWriter, createObserver, guardedObserver, type ObserverOptions } from "./observer.ts";
export { type OtlpExport, openOtlp, openRelay, probeCollector, type TelemetryRelay } from "./open-otlp.ts";
export { isSecretHeader, isShownHeader, redacted } from "./redacted.ts";
