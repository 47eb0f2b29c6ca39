import { Failure, type LimitScope } from "#core/index.ts";
import type { Claim, ClaimState } from "#ports/index.ts";
import { claimKey } from "./claim-key.ts";
import type { LimitKind, LimitRule } from "./limit-rule.ts";
import type { LimitUsage } from "./limit-usage.ts";
import type { Wanted } from "./spent.ts";

/** Nobody knows when a running call ends; a second is a fair time to ask again. */
const retryAfterMs = 1_000;

/** Requests at the same time. */
export const concurrencyRules: LimitKind = (scope) => {
  const { concurrency } = scope.limits;
  return concurrency === undefined ? [] : [new ConcurrencyRule(scope, concurrency)];
};

class ConcurrencyRule implements LimitRule {
  readonly name = "concurrency";
  readonly #scope: LimitScope;
  readonly #claim: Claim;

  constructor(scope: LimitScope, limit: number) {
    this.#scope = scope;
    this.#claim = Object.freeze({
      kind: "gauge",
      key: claimKey.concurrency(scope.kind, scope.id),
      limit,
      amount: 1,
      least: 1,
      windowMs: 0,
      periodStart: 0,
      fail: scope.limits.fail ?? "open",
    });
  }

  claim(): Claim {
    return this.#claim;
  }

  actual(): number {
    return 0;
  }

  refusal(state: ClaimState, _wanted: Wanted, nowMs: number): Failure {
    const { label } = this.#scope;
    const message = `The limit of ${state.limit} requests at the same time on ${label} is reached; wait for a running request to end or ask for a higher limit.`;
    return new Failure("rate_limit_exceeded", message, {
      retryAfterMs,
      details: {
        limit: state.limit,
        used: state.used,
        scope: `concurrency of ${label}`,
        resets_at: Math.ceil((nowMs + retryAfterMs) / 1_000),
      },
    });
  }

  limitUsage(state: ClaimState): LimitUsage {
    return {
      name: this.name,
      scope: this.#scope.kind,
      scopeId: this.#scope.id,
      label: this.#scope.label,
      period: null,
      limit: state.limit,
      used: state.used,
      resetsAt: null,
    };
  }
}
