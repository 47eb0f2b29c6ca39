import type { AnswerOf } from "@sluice/contract";
import { type ApiKey, bounds, type ConfigSnapshot, nanoToUsd } from "#core/index.ts";
import type { AgentStore } from "#directory/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Clock, ReportStore } from "#ports/index.ts";

export interface AgentUsageDependencies {
  readonly agents: Pick<AgentStore, "keysOf">;
  readonly reports: Pick<ReportStore, "keyUsage">;
  readonly admission: Pick<Admission, "limitUsages">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
}

/**
 * What somebody's agents have used since the month began (UTC), by workspace, and how they stand against every limit over them.
 * `isSeen`: in which workspaces.
 */
export async function agentUsage(
  { agents, reports, admission, configSnapshot, clock }: AgentUsageDependencies,
  userId: string,
  isSeen: (place: Pick<ApiKey, "workspaceId">) => boolean,
): Promise<AnswerOf<"agents.usage">> {
  const now = clock.now();
  const month = new Date(now);
  const from = Date.UTC(month.getUTCFullYear(), month.getUTCMonth());
  const keys = (await agents.keysOf(userId)).filter(isSeen).slice(0, bounds.agentPlacesShownMax);
  const { workspaces, groups } = configSnapshot();
  const rowOf = async (key: ApiKey) => {
    const [sums, limitUsages] = await Promise.all([
      reports.keyUsage(key.id, from, now + 1),
      admission.limitUsages(
        [workspaces.get(key.workspaceId)?.scope, groups.get(key.groupId)?.scope, key.personScope, key.scope].filter(
          (scope) => scope !== undefined,
        ),
      ),
    ]);
    const nanoUsd = sums.reduce((total, sum) => total + sum.costNanoUsd, 0);
    return {
      key: key.id,
      workspace: { id: key.workspaceId, slug: workspaces.get(key.workspaceId)?.slug ?? key.workspaceId },
      group: groups.get(key.groupId)?.name ?? key.groupId,
      requests: sums.reduce((total, sum) => total + sum.requests, 0),
      cost_usd: nanoToUsd(nanoUsd),
      limits: limitUsages.map((limitUsage) => ({
        scope: limitUsage.scope,
        kind: limitUsage.name,
        period: limitUsage.period,
        limit: limitUsage.limit,
        used: limitUsage.used,
        resets_at: limitUsage.resetsAt === null ? null : limitUsage.resetsAt * 1_000,
      })),
    };
  };
  const data = [];
  for (const key of keys) data.push(await rowOf(key));
  return { from, data };
}
