/**
 * limits: who may call how much. `admit` reserves a share of every limit that stands on the caller's workspace, group and
 * key, all or none, and hands out a permit; the tightest limit wins because each of them has to grant its share.
 *
 * A *limit* is rpm, tpm, concurrency or a budget; a *rule* is one limit on one scope; a *permit* is settled with what was
 * used, or released when nothing was sent: exactly once, later endings are ignored and counted; a *standing* is how far
 * one limit is used up. A budget is what the ledger's entries cost and what permits hold.
 *
 * When the world is down: limits decide nothing themselves, each claim carries its limit's `fail` mode to the counter
 * (rates and concurrency: open unless told otherwise; budgets: closed). What a budget has spent is read in the ledger when it
 * is first met, and again until that succeeds.
 */
export { type Admission, createAdmission } from "./admit.ts";
export { callCounter } from "./call-counter.ts";

export type { LimitUsage, ScopeLimitUsage } from "./limit-usage.ts";
export { periodStart } from "./period.ts";
export type { LimitHeader, Permit, RateHeaders } from "./permit.ts";
export { seedRates } from "./seed.ts";

export { type Estimate, type Money, noMoney, nothingWanted, type Spent } from "./spent.ts";
