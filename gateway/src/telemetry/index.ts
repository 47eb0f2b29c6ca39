/**
 * telemetry: logs and metrics. Calls never throw and never wait.
 */
import type { Observer } from "#ports/index.ts";

export function createMetrics() {
  return { text: async () => "", contentType: "text/plain", gauges: (_: Record<string, () => number>) => {} };
}

export function createObserver(_: object): Observer {
  return {
    log: (level, message, fields) => {
      if (level !== "debug") console.error(level, message, fields);
    },
    attemptEnd: () => {},
    requestEnd: () => {},
    breakerChange: () => {},
    configReload: () => {},
  };
}
