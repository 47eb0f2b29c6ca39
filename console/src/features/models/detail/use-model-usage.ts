import { useCall } from "../../../api/use-call.ts";
import { type RangeName, useTimeRange } from "../../../components/use-time-range.ts";
import { useWorkspace } from "../../../session/workspace.ts";

const measures = ["cost_usd", "requests", "failed_requests", "request_latency_p50_ms"] as const;

/** The usage of one model in the time range of the URL. */
export function useModelUsage(model: string, range: RangeName) {
  const { path, none } = useWorkspace();
  const { from, to, step } = useTimeRange(range);
  return useCall("usage.series", {
    params: { workspace: path },
    query: { from, to, step, by: "none", model, measures: measures.join() },
    keepBefore: true,
    enabled: !none && model !== "",
  });
}
