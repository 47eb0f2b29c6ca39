import type { UsageDimension, UsageMeasure } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { type UsageView, zoneOf } from "./usage-view.ts";

/** Usage over time of the page's period and filters. */
export function useUsageSeries(
  { span, query, tag }: UsageView,
  by: UsageDimension,
  measures: readonly UsageMeasure[],
  enabled = true,
) {
  const { path, none } = useWorkspace();
  return useCall("usage.series", {
    params: { workspace: path },
    query: { ...query, by, step: span.step, time_zone: zoneOf(span), measures: measures.join() },
    enabled: enabled && !none && (by !== "tag" || tag !== ""),
    keepBefore: true,
  });
}
