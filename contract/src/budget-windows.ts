/** Periods of budgets, shortest first. */
export const budgetPeriods = ["hour", "day", "week", "month", "total"] as const;
