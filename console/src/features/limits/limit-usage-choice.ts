import type { LimitUsageRow } from "@sluice/contract";
import { nearlyUsed, shareOf } from "./limit-usage-words.ts";

interface Choice {
  readonly kind: string | undefined;
  readonly scope: string | undefined;
}

/** The rows that match the filters. Empty and unknown filters are ignored. */
export function chosen(rows: readonly LimitUsageRow[], { kind, scope }: Choice): readonly LimitUsageRow[] {
  return rows.filter((row) => (!kind || row.kind === kind) && (!scope || row.scope === scope));
}

export interface Summary {
  readonly all: number;
  readonly near: number;
  readonly exhausted: number;
  readonly short: number;
}

/** How many limits are nearly used, exhausted, or will not last their period. */
export function summaryOf(rows: readonly LimitUsageRow[]): Summary {
  const open = rows.filter((row) => !row.exhausted);
  return {
    all: rows.length,
    near: open.filter((row) => shareOf(row) >= nearlyUsed).length,
    exhausted: rows.length - open.length,
    short: open.filter((row) => row.forecast !== null && row.forecast.exhausted_at !== null).length,
  };
}
