import type { LimitUsageRow } from "@sluice/contract";
import { useCall } from "../../api/use-call.ts";
import { formatUsdShort } from "../../client/format.ts";
import type { ChartMark } from "../../components/chart-props.ts";
import { t } from "../../language/areas/limits.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface BudgetScope {
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  readonly scope: LimitUsageRow["scope"];
  /** null: the workspace itself. */
  readonly id: string | null;
}

/** `month`: bars of whole months. */
export type MarkStep = number | "month";

/** The budget of a scope and its forecast as lines of a chart of its spend; none without a budget, or if it never resets. */
export function useBudgetMarks(of: BudgetScope | null, step: MarkStep | undefined): readonly ChartMark[] {
  const limits = useCall("limits.list", {
    params: { workspace: of?.workspace ?? "-" },
    query: { kind: "budget", limit: 2, ...scopeQuery(of) },
    enabled: of !== null,
  });
  const rows = limits.data?.data ?? [];
  // A person may have a budget in each workspace.
  return of === null || step === undefined || rows.length !== 1 || rows[0] === undefined
    ? []
    : budgetMarks(rows[0], step);
}

function scopeQuery(of: BudgetScope | null) {
  if (of === null) return {};
  return { scope: of.scope, ...(of.id === null ? {} : { scope_id: of.id }) };
}

type Budget = Pick<LimitUsageRow, "limit" | "period" | "rolling" | "resets_at" | "forecast">;

/** Spreads the amounts of a period evenly over its steps. */
export function budgetMarks(budget: Budget, step: MarkStep): readonly ChartMark[] {
  const { limit, period, rolling, resets_at: end, forecast } = budget;
  if (period === null || period === "total" || rolling || end === null) return [];
  const share = stepShare(period, step, end);
  const each = (usd: number, of: string) => t("limits.marks.each", { amount: formatUsdShort(usd), step: of });
  const mark = (kind: ChartMark["kind"], whole: number): ChartMark => {
    const amount = each(whole * share, stepName(step));
    const label =
      share === 1
        ? t(`limits.marks.${kind}`, { amount })
        : t(`limits.marks.whole.${kind}`, { amount, whole: each(whole, period) });
    return { kind, value: whole * share, label };
  };
  return [mark("budget", limit), ...(forecast === null ? [] : [mark("forecast", forecast.at_period_end)])];
}

/** The part of a period that a step covers; above 1 if the step is longer. */
function stepShare(period: "hour" | "day" | "week" | "month", step: MarkStep, end: number): number {
  // The last moment of the period.
  const date = new Date(end - 1);
  const monthDays = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  const days = { hour: 1 / 24, day: 1, week: 7, month: monthDays }[period];
  return step === "month" ? monthDays / days : step / (days * dayMs);
}

function stepName(step: MarkStep): "month" | "day" | "hour" | "step" {
  if (step === "month") return step;
  return step === dayMs ? "day" : step === hourMs ? "hour" : "step";
}
