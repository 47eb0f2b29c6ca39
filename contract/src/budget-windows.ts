/** Periods of budgets, shortest first. */
export const budgetPeriods = ["hour", "day", "week", "month", "total"] as const;

/** Largest amount of a budget or a price, in USD. */
export const usdMax = 9_000_000;
/** Most budget policies of the installation and of one workspace together: each call is matched with them. */
export const budgetPoliciesMax = 200;
/** Most names in one member of a policy's `match`. */
export const policyNamesMax = 200;

/** Members of a call that can split a policy: it counts each value separately. `tag:` and the name of a tag splits it too. */
export const policySplits = ["key", "person", "workspace", "group", "model", "provider"] as const;

interface BudgetWindow {
  readonly period: (typeof budgetPeriods)[number];
  readonly time_zone?: string | undefined;
  readonly rolling?: boolean | undefined;
}

/** Contradictions between the members of a budget's window. */
export function windowFaults({ period, time_zone, rolling }: BudgetWindow): { path: string[]; message: string }[] {
  const found: { path: string[]; message: string }[] = [];
  const add = (member: string, message: string) => found.push({ path: [member], message });
  if (rolling === true && period === "total") add("rolling", "a total budget has no window that rolls");
  if (time_zone === undefined) return found;
  if (period === "total") add("time_zone", "a total budget has no period that follows a time zone");
  else if (rolling === true) add("time_zone", "a rolling window follows no time zone");
  return found;
}
