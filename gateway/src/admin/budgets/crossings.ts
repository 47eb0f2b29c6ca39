import type { LimitUsage } from "#limits/index.ts";
import { periodStart } from "#limits/index.ts";
import type { Crossing, StoredNotice } from "#ports/index.ts";
import { shownScopeId } from "./limit-scopes.ts";

/** Whose budgets one notice listens to, and where these stand in which workspace. */
export interface WatchedLimit extends LimitUsage {
  readonly workspaceId: string;
}

/**
 * What was crossed, by notice, budget and share. When one look finds several shares of a budget crossed at once, only the
 * highest is to be told; the lower ones are noted as known (`silent`).
 */
export function crossingsOf(
  notices: readonly StoredNotice[],
  limitUsages: readonly WatchedLimit[],
  nowMs: number,
): readonly (Crossing & { readonly silent: boolean })[] {
  const crossings: (Crossing & { readonly silent: boolean })[] = [];
  for (const notice of notices) {
    if (!notice.enabled) continue;
    for (const limitUsage of limitUsages) {
      if (limitUsage.name !== "budget" || limitUsage.period === null || !listens(notice, limitUsage)) continue;
      const { used, held = 0, limit } = limitUsage;
      // A budget of nothing is used up from the start; that is no news. One that cannot be read now is looked at again.
      if (limit <= 0 || used === null) continue;
      const spent = used - held;
      const reached = notice.percent.filter((percent) => spent >= (limit * percent) / 100);
      const highest = Math.max(...reached);
      for (const percent of reached) {
        crossings.push({
          noticeId: notice.id,
          budget: `${limitUsage.scope} ${limitUsage.scopeId} ${limitUsage.period} ${limitUsage.limit}`,
          periodStart: periodStart(limitUsage.period, nowMs),
          percent,
          label: `${limitUsage.label}, per ${limitUsage.period}`,
          usedUsd: spent,
          limitUsd: limit,
          silent: percent !== highest,
        });
      }
    }
  }
  return crossings;
}

function listens(notice: StoredNotice, limitUsage: WatchedLimit): boolean {
  if (notice.workspaceId !== limitUsage.workspaceId) return false;
  if (notice.scope === null) return true;
  return (
    notice.scope === limitUsage.scope && (notice.scope_id === null || notice.scope_id === shownScopeId(limitUsage))
  );
}
