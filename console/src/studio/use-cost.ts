import type { RequestDetail } from "@sluice/contract";
import { useQuery } from "@tanstack/react-query";
import { useClient } from "../api/call-context.tsx";
import { callKey } from "../api/use-call.ts";
import type { Problem } from "../client/problem.ts";

const triesMax = 8;
const pauseMs = 500;

/** What a request cost, by the ledger. An entry comes a moment after its answer, so that it is looked for a few times. */
export function useCost(workspace: string, requestId: string | null): number | null | undefined {
  const call = useClient();
  const options = { params: { workspace, request: requestId ?? "-" } };
  const found = useQuery<RequestDetail, Problem>({
    queryKey: callKey("requests.show", options),
    queryFn: ({ signal }) => call("requests.show", { ...options, signal }),
    enabled: requestId !== null,
    retry: (tries, problem) => tries < triesMax && problem.code === "not_found",
    retryDelay: pauseMs,
    staleTime: 60_000,
  });
  if (requestId === null || found.isError) return null;
  return found.data?.attempts.reduce((sum, attempt) => sum + attempt.cost_usd, 0);
}
