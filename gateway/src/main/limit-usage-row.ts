import type { LimitUsage } from "#limits/index.ts";

/** How far a limit is used, as a key is told of its own. */
export function limitUsageRow(limitUsage: LimitUsage) {
  return {
    scope: limitUsage.label,
    kind: limitUsage.name,
    period: limitUsage.period,
    limit: limitUsage.limit,
    used: limitUsage.used,
    resets_at: limitUsage.resetsAt,
  };
}
