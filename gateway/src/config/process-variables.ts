import type { Variables } from "./expand-variables.ts";

/** The environment of this process as it is now. The one place that reads it. */
export function processVariables(): Variables {
  return Object.freeze({ ...process.env });
}
