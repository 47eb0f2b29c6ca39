import type { BudgetConfig } from "@sluice/contract/config-file";
import type { Member } from "@sluice/contract/console";
import { Failure, usdToNano } from "#core/index.ts";

/** The periods that there are on both sides. A budget in total has no name there. */
export const spendPeriods = ["daily", "weekly", "monthly"] as const;
export type SpendPeriod = (typeof spendPeriods)[number];

type BudgetPeriod = BudgetConfig["period"];

const budgetPeriods = { daily: "day", weekly: "week", monthly: "month" } as const satisfies Record<
  SpendPeriod,
  BudgetPeriod
>;

export function budgetPeriodOf(period: SpendPeriod): (typeof budgetPeriods)[SpendPeriod] {
  return budgetPeriods[period];
}

/** null: of a budget in total. */
export function spendPeriodOf(period: BudgetPeriod): SpendPeriod | null {
  return spendPeriods.find((each) => budgetPeriods[each] === period) ?? null;
}

/** The same for a person and a period at any time: nothing is stored for it. */
export function spendLimitId(userId: string, period: SpendPeriod): string {
  return `spl_${userId}_${period}`;
}

/** null: no id that there can be. */
export function readSpendLimitId(id: string): { readonly userId: string; readonly period: SpendPeriod } | null {
  const [, userId, period] = /^spl_(\w{1,64})_(daily|weekly|monthly)$/.exec(id) ?? [];
  return userId === undefined || period === undefined ? null : { userId, period: period as SpendPeriod };
}

/** Somebody's budget as a spend limit; null: they have none that can be said so. */
export function spendLimitOf({ id: userId, budget }: Pick<Member, "id" | "budget">) {
  const period = budget === null ? null : spendPeriodOf(budget.period);
  if (budget === null || period === null) return null;
  return {
    type: "spend_limit",
    id: spendLimitId(userId, period),
    // When it was set stands in the audit log alone.
    created_at: null,
    updated_at: null,
    scope: userScope(userId),
    amount: centsText(usdToNano(budget.usd)),
    currency: "USD",
    is_enabled: true,
    period,
  } as const;
}

export function userScope(userId: string) {
  return { type: "user", user_id: userId } as const;
}

/** Decimal cents, as few digits as say it exactly. */
export function centsText(nanoUsd: number): string {
  const text = (nanoUsd / nanoPerCent).toFixed(7);
  return text.replace(/\.?0+$/, "");
}

/** USD of a string of whole cents. Throws Failure for anything else. */
export function readAmount(amount: unknown): number {
  if (typeof amount === "string" && /^\d{1,12}$/.test(amount) && Number(amount) <= centsMax) {
    return Number(amount) / 100;
  }
  throw new Failure("invalid_request", `amount: a string of whole cents is needed, "0" to "${centsMax}".`, {
    param: "amount",
  });
}

const nanoPerCent = 10_000_000;
/** The largest budget there may be. */
const centsMax = 900_000_000;
