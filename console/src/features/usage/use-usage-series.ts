import type { UsageDimension, UsageMeasure } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { type UsageView, zoneOf } from "./usage-view.ts";

/** Usage over time of the page's period and filters. */
export function useUsageSeries({ span, query, tag }: UsageView, by: UsageDimension, measures: readonly UsageMeasure[]) {
  const { path, none } = useWorkspace();
  return useCall("usage.series", {
    params: { workspace: path },
    query: { ...query, by, step: span.step, time_zone: zoneOf(span), measures: measures.join() },
    enabled: !none && (by !== "tag" || tag !== ""),
    keepBefore: true,
  });
}

const totalMeasures = [
  ...(["cost_usd", "requests", "input_tokens", "output_tokens"] as const),
  ...(["reasoning_tokens", "cache_read_share", "cache_saved_usd"] as const),
];

/** The key figures of everything that the filters leave, with their course. */
export function useUsageTotals(view: UsageView) {
  return useUsageSeries(view, "none", totalMeasures);
}
