/** Periods of budgets, shortest first. */
export const budgetPeriods = ["hour", "day", "week", "month", "total"] as const;

/** Most budget policies of the installation and of one workspace together: each call is matched with them. */
export const budgetPoliciesMax = 200;
/** Most names in one member of a policy's `match`. */
export const policyNamesMax = 200;

/** Members of a call that can split a policy: it counts each value separately. `tag:` and the name of a tag splits it too. */
export const policySplits = ["key", "person", "workspace", "group", "model", "provider"] as const;
