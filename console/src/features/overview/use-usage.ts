import type { QueryInput, UsageDimension, UsageMeasure } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { useTimeRange } from "../../components/use-time-range.ts";
import { useWorkspace } from "../../session/workspace.ts";

/** The usage of the selected workspace and time range. Both queries of the page use the same range. */
export function useUsage(by: UsageDimension, measures: readonly UsageMeasure[]) {
  const workspace = useWorkspace();
  const { from, to, step } = useTimeRange();
  const query: QueryInput<"usage.series"> = { from, to, step, by, measures: measures.join() };
  return useCall("usage.series", { params: { workspace: workspace.path }, query, keepBefore: true });
}
