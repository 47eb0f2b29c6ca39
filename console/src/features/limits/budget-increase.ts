import type { BudgetConfig } from "@sluice/contract";
import { t } from "../../language/areas/limits.ts";

/** `over` undefined: refuse. */
export function withFallback({ over: _before, ...budget }: BudgetConfig, over: BudgetConfig["over"]): BudgetConfig {
  return over === undefined ? budget : { ...budget, over };
}

/** `increase` undefined: no increase. */
export function withIncrease(
  { increase: _before, ...budget }: BudgetConfig,
  increase: BudgetConfig["increase"],
): BudgetConfig {
  return increase === undefined ? budget : { ...budget, increase };
}

/** Why a form with this budget cannot be sent; null if it can. */
export function budgetBlockedBy(budget: BudgetConfig | null): string | null {
  const increase = budget?.increase;
  if (increase === undefined) return null;
  const { usd, until, reason } = increase;
  return usd === 0 || until === "" || reason.trim() === "" ? t("limits.policy.increaseMissing") : null;
}
