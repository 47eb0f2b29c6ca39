import type { Failure, LimitScope } from "#core/index.ts";
import type { Claim, ClaimState } from "#ports/index.ts";
import type { LimitName } from "./limit-name.ts";
import type { LimitUsage } from "./limit-usage.ts";
import type { Spent, Wanted } from "./spent.ts";

/** One limit on one scope: what it claims for a call, and what it says when it refuses. `nowMs` is Unix milliseconds. */
export interface LimitRule {
  readonly name: LimitName;
  claim(wanted: Wanted, nowMs: number): Claim;
  /** What a finished call really took of it; a budget hears that from the ledger. */
  actual(spent: Spent): number;
  refusal(state: ClaimState, wanted: Wanted, nowMs: number): Failure;
  limitUsage(state: ClaimState, nowMs: number): LimitUsage;
}

/** One kind of limit: the rules that it makes of a scope, none when the scope does not have it. */
export type LimitKind = (scope: LimitScope) => readonly LimitRule[];
