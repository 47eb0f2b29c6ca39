/**
 * The four parts of the metrics library that are used. Its own door also loads what it can measure by itself, a push
 * client and two tracing libraries, which no start should pay for.
 */
export { default as Counter } from "prom-client/lib/counter.js";
export { default as Gauge } from "prom-client/lib/gauge.js";
export { default as Histogram } from "prom-client/lib/histogram.js";
export { default as Registry } from "prom-client/lib/registry.js";
