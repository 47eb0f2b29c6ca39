import type { LimitUsageRow } from "@sluice/contract";
import { formatCompact, formatCount, formatUsd, formatUsdShort } from "../../client/format.ts";
import { t } from "../../language/areas/limits.ts";

const budgetPeriods = {
  day: "Budget, daily",
  week: "Budget, weekly",
  month: "Budget, monthly",
  total: "Budget, total",
};
const kinds = {
  rpm: t("limits.requestsPerMinute"),
  tpm: t("limits.tokensPerMinute"),
  concurrency: t("limits.atTheSameTime"),
};

/** `Requests per minute`, `Budget, monthly` */
export function kindWords({ kind, period }: LimitUsageRow): string {
  return kind === "budget" ? budgetPeriods[period ?? "total"] : kinds[kind];
}

/** How much of it is used, 0 for none or where that is not known, above 1 when more was used than the limit says now. */
export function shareOf({ used, limit }: Pick<LimitUsageRow, "used" | "limit">): number {
  // A limit of nothing is used up from the start.
  if (limit === 0) return 1;
  return used === null ? 0 : used / limit;
}

export type LimitUsageTone = "busy" | "warn" | "bad";
const nearlyUsed = 0.8;

export function toneOfShare(share: number): LimitUsageTone {
  if (share >= 1) return "bad";
  return share >= nearlyUsed ? "warn" : "busy";
}

/** `$3.99 of $5.00`, `1.2K of 100K` */
export function usedWords(row: LimitUsageRow): string {
  const write = row.kind === "budget" ? formatUsdShort : formatCompact;
  return `${row.used === null ? unknownWords : write(row.used)} of ${write(row.limit)}`;
}

/** The same to the last digit. */
export function usedExactly(row: LimitUsageRow): string {
  const write = row.kind === "budget" ? formatUsd : formatCount;
  return `${row.used === null ? unknownWords : write(row.used)} of ${write(row.limit)}`;
}

/** A budget's spending could not be read just now. */
const unknownWords = t("limits.notKnown");

/** `group acme/cheap` is `acme/cheap`: what it is stands beside it. */
export function nameOf({ scope, label }: LimitUsageRow): string {
  return label.startsWith(`${scope} `) ? label.slice(scope.length + 1) : label;
}

export interface Outlook {
  readonly tone: LimitUsageTone | null;
  readonly words: string;
  /** When it would be used up. */
  readonly exhaustedAt: number | null;
}

/** Where a budget is going; null for what is no budget. */
export function outlookOf(row: LimitUsageRow): Outlook | null {
  const { forecast, period } = row;
  if (forecast === null) return null;
  if (row.used !== null && row.used >= row.limit)
    return { tone: "bad", words: t("limits.usedUpCallsAreRefused"), exhaustedAt: null };
  if (forecast.exhausted_at !== null)
    return { tone: "warn", words: t("limits.willBeUsedUp"), exhaustedAt: forecast.exhausted_at };
  if (forecast.at_period_end === 0) return { tone: null, words: t("limits.nothingSpentLately"), exhaustedAt: null };
  const end = period === "total" || period === null ? "in 30 days" : t("limits.byTheEndOfThe", { period });
  return {
    tone: null,
    words: t("limits.about", { at_period_end: formatUsdShort(forecast.at_period_end), end }),
    exhaustedAt: null,
  };
}
