import type { ReadReport } from "#alerts/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

/** Reads scheduled reports. The code is loaded with the first one. */
export function reportReader(
  dependencies: Pick<ConsoleDependencies, "people" | "reports" | "configSnapshot">,
): ReadReport {
  return async (report, dueAt) => (await import("./read-report.ts")).readReport(dependencies, report, dueAt);
}
