/**
 * telemetry: what the running house tells about itself.
 *
 * createObserver  the port Observer: a log line for what an operator should see, a number for everything. An access line
 *                 per request exists only at level debug; failed attempts and answers of 5xx are one warning each, and a
 *                 storm of them is counted instead of written.
 * createMetrics   numbers for Prometheus. Labels come from configured things, never from what a caller wrote, and each
 *                 metric has a bound on its series, beyond which it counts under `other`.
 * redacted        takes credentials out of whatever is about to be logged, by name and by looks.
 *
 * When the world is down: calls never throw and never wait. A reader of the log that stalls loses lines, told of later.
 */
export { createMetrics, type Metrics } from "./metrics.ts";
export { createObserver, type ObserverOptions } from "./observer.ts";
export { isSecretHeader, maskText, redacted } from "./redacted.ts";
