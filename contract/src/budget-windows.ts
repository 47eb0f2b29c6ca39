/** Periods of budgets, shortest first. */
export const budgetPeriods = ["hour", "day", "week", "month", "total"] as const;

/** Most budget policies of the installation and of one workspace together: each call is matched with them. */
export const budgetPoliciesMax = 200;
/** Most names in one member of a policy's `match`. */
export const policyNamesMax = 200;

/** What a policy counts separately for each value; or `tag:` and the name of a tag. */
export const policySplits = ["key", "person", "workspace", "group", "model", "provider"] as const;
