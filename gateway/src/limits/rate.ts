import { Failure, type LimitScope } from "#core/index.ts";
import type { Claim, ClaimState } from "#ports/index.ts";
import { claimKey } from "./claim-key.ts";
import type { LimitKind, LimitRule } from "./limit-rule.ts";
import type { LimitUsage } from "./limit-usage.ts";
import type { Spent, Wanted } from "./spent.ts";

export const rateWindowMs = 60_000;

/** Requests and tokens per minute. */
export const rateRules: LimitKind = (scope) => {
  const { rpm, tpm } = scope.limits;
  const rules: LimitRule[] = [];
  if (rpm !== undefined) rules.push(new RateRule("rpm", scope, rpm));
  if (tpm !== undefined) rules.push(new RateRule("tpm", scope, tpm));
  return rules;
};

class RateRule implements LimitRule {
  readonly name: "rpm" | "tpm";
  readonly #scope: LimitScope;
  readonly #limit: number;
  /** A claim of one, which is every claim on requests. */
  readonly #single: Claim;

  constructor(name: "rpm" | "tpm", scope: LimitScope, limit: number) {
    this.name = name;
    this.#scope = scope;
    this.#limit = limit;
    this.#single = Object.freeze({
      kind: "window",
      key: name === "rpm" ? claimKey.requests(scope.kind, scope.id) : claimKey.tokens(scope.kind, scope.id),
      limit,
      amount: 1,
      least: 1,
      windowMs: rateWindowMs,
      periodStart: 0,
      fail: scope.limits.fail ?? "open",
    });
  }

  /**
   * An estimate above the limit is cut to it, else a large call could never be made at all: alone in an empty window it
   * is let in. An estimate of nothing still claims one token, so that a full window lets nothing through.
   */
  claim(wanted: Wanted): Claim {
    if (this.name === "rpm") return this.#single;
    const amount = Math.max(1, Math.min(Math.ceil(wanted.tokens), this.#limit));
    const { kind, key, limit, windowMs, periodStart, fail } = this.#single;
    return { kind, key, limit, amount, least: amount, windowMs, periodStart, fail };
  }

  actual(spent: Spent): number {
    return this.name === "rpm" ? 1 : spent.tokens;
  }

  refusal(state: ClaimState, _wanted: Wanted, nowMs: number): Failure {
    const scope = `${this.name} of ${this.#scope.label}`;
    // The counter frees an amount up to a sixtieth of the window late; SDKs ignore a wait above 60 s.
    const waitMs = Math.min(rateWindowMs, Math.max(1_000, Math.ceil(state.freeInMs)));
    const unit = this.name === "rpm" ? "requests" : "tokens";
    const message = `The limit of ${this.#limit} ${unit} per minute on ${this.#scope.label} is reached; try again in ${Math.ceil(waitMs / 1_000)} s or ask for a higher limit.`;
    return new Failure("rate_limit_exceeded", message, {
      retryAfterMs: waitMs,
      details: { limit: this.#limit, used: state.used, scope, resets_at: Math.ceil((nowMs + waitMs) / 1_000) },
    });
  }

  limitUsage(state: ClaimState, nowMs: number): LimitUsage {
    return {
      name: this.name,
      scope: this.#scope.kind,
      scopeId: this.#scope.id,
      label: this.#scope.label,
      period: null,
      limit: this.#limit,
      used: state.used,
      resetsAt: state.used === 0 ? null : Math.ceil((nowMs + state.freeInMs) / 1_000),
    };
  }
}
