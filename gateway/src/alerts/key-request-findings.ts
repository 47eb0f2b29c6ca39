import type { BudgetSources } from "./budget-findings.ts";
import { decided, type Findings, findingsMax, type Watched } from "./finding.ts";

/** A decline is reported for this long. */
const declinedMs = 7 * 86_400_000;

/** Open key requests, and their decisions as a second level, so that a decision is a new message about the same alert. */
export async function keyRequestFindings(
  { workspaceId }: Pick<Watched<"key_request">, "workspaceId">,
  { controlStore }: Pick<BudgetSources, "controlStore">,
  now: number,
): Promise<Findings> {
  const requests = await controlStore.reportedKeyRequests(workspaceId, now - declinedMs, findingsMax);
  return decided(
    requests.map(({ id, state, workspace, requester, requested, granted, decided_by: decider, reason }) => ({
      ...{ kind: "key_request", severity: "warning", subject: `key request ${id}` },
      ...{ workspaceId: workspace.id, personId: requester.id, level: state === "pending" ? 1 : 2 },
      facts: {
        ...{
          workspace: workspace.slug,
          request: id,
          name: (granted ?? requested).name,
          requester: requester.email,
          state,
        },
        ...(decider === null ? {} : { decided_by: decider.email }),
        ...(reason === null ? {} : { reason }),
      },
    })),
  );
}
