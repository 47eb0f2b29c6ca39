import type { LimitUsageRow } from "@sluice/contract";
import { shareOf } from "./limit-usage-words.ts";

interface Choice {
  readonly kind: string | undefined;
  readonly scope: string | undefined;
}

/** The rows that the filters leave. An empty or unknown filter leaves what it does not name. */
export function chosen(rows: readonly LimitUsageRow[], { kind, scope }: Choice): readonly LimitUsageRow[] {
  return rows.filter((row) => (!kind || row.kind === kind) && (!scope || row.scope === scope));
}

export interface Summary {
  readonly all: number;
  readonly near: number;
  readonly full: number;
  readonly short: number;
}

const nearFrom = 0.8;

/** How many limits are nearly used, used up, or will not last their period. */
export function summaryOf(rows: readonly LimitUsageRow[]): Summary {
  const shares = rows.map(shareOf);
  return {
    all: rows.length,
    near: shares.filter((share) => share >= nearFrom && share < 1).length,
    full: shares.filter((share) => share >= 1).length,
    short: rows.filter((row) => shareOf(row) < 1 && row.forecast !== null && row.forecast.exhausted_at !== null).length,
  };
}
