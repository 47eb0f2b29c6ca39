/**
 * limits: how much a caller may use. `admit` reserves a share of every limit of the caller's workspace, group and key, all
 * or none, and returns a permit. The tightest limit decides, because every one of them has to grant its share.
 *
 * A *limit* is rpm, tpm, concurrency or a budget. A *rule* is one limit on one scope. A *permit* is settled with what was
 * used, or released when nothing was sent, exactly once: later calls are ignored and counted. A *limit usage* says how
 * much of one limit is used. What is used of a budget is the cost of its ledger entries and what permits hold.
 *
 * When the counter cannot be reached, its `fail` mode decides (rates and concurrency: open by default; budgets: closed).
 * Each claim carries that mode. What a budget has spent is read from the ledger when the budget is first used, and again
 * until that succeeds.
 */
export { Admission, callCounter } from "./admit.ts";
export {
  type Estimate,
  freeRequest,
  type LimitUsage,
  type Money,
  nothingWanted,
  type ScopeLimitUsage,
} from "./limit-rule.ts";
export { periodStart } from "./period.ts";
export type { Permit, RateStates, SpentBudget } from "./permit.ts";
export { heldClaims, seedRates } from "./seed.ts";
