import type { ReadReport } from "#alerts/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

/** Reads scheduled reports. Their code is loaded with the first one. */
export function reportReader(
  dependencies: Pick<ConsoleDependencies, "people" | "reports" | "configSnapshot">,
): ReadReport {
  return async (report, dueAt) => {
    const { createReportReader } = await import("./read-report.ts");
    return await createReportReader(dependencies)(report, dueAt);
  };
}
