import type { LimitUsageRow } from "@sluice/contract";
import { formatCompact, formatCount, formatUsd, formatUsdShort } from "../../client/format.ts";
import { t } from "../../language/areas/limits.ts";

const budgetPeriods = {
  hour: t("limits.kind.budgetHour"),
  day: t("limits.kind.budgetDay"),
  week: t("limits.kind.budgetWeek"),
  month: t("limits.kind.budgetMonth"),
  total: t("limits.kind.budgetTotal"),
};
const rollingBudgets = {
  hour: t("limits.kind.rolling.hour"),
  day: t("limits.kind.rolling.day"),
  week: t("limits.kind.rolling.week"),
  month: t("limits.kind.rolling.month"),
};
const kinds = {
  rpm: t("limits.kind.rpm"),
  tpm: t("limits.kind.tpm"),
  concurrency: t("limits.kind.concurrency"),
};

/** `Requests per minute`, `Budget, monthly`, `Budget, monthly (Europe/Berlin)` */
export function kindWords({
  kind,
  period,
  rolling,
  time_zone: zone,
}: Pick<LimitUsageRow, "kind" | "period" | "rolling" | "time_zone">): string {
  if (kind !== "budget") return kinds[kind];
  if (rolling && period !== null && period !== "total") return rollingBudgets[period];
  const words = budgetPeriods[period ?? "total"];
  return zone === null ? words : `${words} (${zone})`;
}

/** The used share: 0 if unknown, above 1 if usage exceeds the current limit. */
export function shareOf({ used, limit }: Pick<LimitUsageRow, "used" | "limit">): number {
  // A limit of 0 is exhausted from the start.
  if (limit === 0) return 1;
  return used === null ? 0 : used / limit;
}

export type LimitUsageTone = "busy" | "warn" | "bad";
const nearlyUsed = 0.8;

export function toneOf(row: Pick<LimitUsageRow, "used" | "limit" | "exhausted">): LimitUsageTone {
  if (row.exhausted) return "bad";
  return shareOf(row) >= nearlyUsed ? "warn" : "busy";
}

/** `$3.99 of $5.00`, `1.2K of 100K` */
export function usedWords(row: LimitUsageRow): string {
  return usedOf(row, row.kind === "budget" ? formatUsdShort : formatCompact);
}

/** The same with all digits. */
export function usedExactly(row: LimitUsageRow): string {
  return usedOf(row, row.kind === "budget" ? formatUsd : formatCount);
}

/** A budget that could not be read is unknown. */
function usedOf({ used, limit }: LimitUsageRow, write: (amount: number) => string): string {
  return t("limits.usedOf", { used: used === null ? t("limits.unknown") : write(used), limit: write(limit) });
}

/** `group acme/cheap` becomes `acme/cheap`: the scope has a separate column. */
export function nameOf({ scope, label }: LimitUsageRow): string {
  return label.startsWith(`${scope} `) ? label.slice(scope.length + 1) : label;
}

/** The forecast of a budget: exhausted, refusing calls that need more than is left, when it runs out, or the projected spend. */
export type Outlook =
  | { readonly kind: "exhausted" | "idle" }
  | { readonly kind: "refusing"; readonly left: string; readonly at: number }
  | { readonly kind: "runs-out"; readonly at: number }
  | { readonly kind: "projected"; readonly words: string };

/** null if it is not a budget, or cannot be read now. */
export function outlookOf(row: LimitUsageRow): Outlook | null {
  const { forecast, period, used, limit, refused_at: refusedAt } = row;
  if (row.kind !== "budget" || used === null) return null;
  if (used >= limit) return { kind: "exhausted" };
  if (refusedAt !== null) return { kind: "refusing", left: formatUsdShort(limit - used), at: refusedAt };
  if (forecast === null) return null;
  if (forecast.exhausted_at !== null) return { kind: "runs-out", at: forecast.exhausted_at };
  if (forecast.at_period_end === 0) return { kind: "idle" };
  const amount = formatUsdShort(forecast.at_period_end);
  return { kind: "projected", words: t("limits.forecast.projected", { amount, period: period ?? "total" }) };
}
