/**
 * limits: how much a caller may use. `admit` reserves a share of every limit of the caller's workspace, group, person and key, all or
 * none, and returns a permit. The tightest limit decides, because each of them has to grant its share.
 *
 * A *limit* is rpm, tpm, concurrency or a budget. A *rule* is one limit on one scope. A *permit* is settled with the used tokens, or
 * released if nothing was sent, exactly once: later calls are ignored and counted. A *limit usage* is the used amount of one limit. The
 * usage of a budget is the cost of its ledger entries plus the holds of permits.
 *
 * If the counter is unreachable, the `fail` mode of each claim decides (rates and concurrency: open by default; budgets: closed). The
 * spending of a budget is read from the ledger at its first use, with retries until that succeeds.
 */
export { Admission, callCounter, Denial } from "./admit.ts";
export { BudgetRule } from "./budget.ts";
export { type AttemptPlace, CallRuleSets, type HeldCall, heldClaims } from "./call-rules.ts";
export {
  type Estimate,
  freeRequest,
  isExhausted,
  type LimitRule,
  type LimitUsage,
  type Money,
  nothingWanted,
  type ScopeLimitUsage,
} from "./limit-rule.ts";
export type { Permit, RateStates, SpentBudget } from "./permit.ts";
export { callersScope } from "./policy-counters.ts";
export { RateRule } from "./rates.ts";
export { seedRates } from "./seed.ts";
export { type SpendingSource, spendingQuery } from "./spending.ts";
