import { Failure, type LimitScope, type ReachedLimit } from "#core/index.ts";
import type { Claim, ClaimState } from "#ports/index.ts";
import {
  claimKey,
  type LimitRule,
  type LimitUsage,
  type Money,
  type RateName,
  reachedLimit,
  scopeOf,
} from "./limit-rule.ts";

export const rateWindowMs = 60_000;

/** The end of a running call cannot be predicted; a second is a fair time to try again. */
const concurrencyRetryMs = 1_000;

export function rateRules(scope: LimitScope): readonly LimitRule[] {
  const { limits } = scope;
  const rules: LimitRule[] = [];
  for (const name of ["rpm", "tpm", "concurrency"] as const) {
    const limit = limits[name];
    if (limit !== undefined) rules.push(new RateRule(name, scope, limit));
  }
  return rules;
}

export class RateRule implements LimitRule {
  readonly name: RateName;
  readonly scope: LimitScope;
  readonly isShadow: boolean;
  readonly text: string;
  readonly reached: ReachedLimit;
  /** A claim of one request, one token or one place. */
  readonly #single: Claim;
  /** The last claim on tokens. */
  #tokens: Claim;

  constructor(name: RateName, scope: LimitScope, limit: number) {
    this.name = name;
    this.scope = scope;
    const isGauge = name === "concurrency";
    this.isShadow = scope.limits.enforce === false;
    const unit = { rpm: "requests per minute", tpm: "tokens per minute", concurrency: "requests at the same time" }[
      name
    ];
    this.reached = reachedLimit(scope, name);
    this.text = `limit of ${limit} ${unit} on ${scope.label}`;
    this.#single = Object.freeze({
      kind: isGauge ? "gauge" : "window",
      key: claimKey(name, scope.kind, scope.id),
      limit,
      amount: 1,
      least: 1,
      windowMs: isGauge ? 0 : rateWindowMs,
      periodStart: 0,
      fail: scope.limits.fail ?? "open",
    });
    this.#tokens = this.#single;
  }

  get limit(): number {
    return this.#single.limit;
  }

  /**
   * An estimate above the limit is cut to the limit: a large call is admitted if the window is empty. An estimate of nothing still
   * claims one token, so that a full window admits nothing.
   */
  amountOf(tokens: number): number {
    return this.name === "tpm" ? Math.max(1, Math.min(Math.ceil(tokens), this.limit)) : 1;
  }

  claim(tokens: number): Claim {
    if (this.name !== "tpm") return this.#single;
    const { kind, key, limit, windowMs, periodStart, fail } = this.#single;
    const amount = this.amountOf(tokens);
    if (this.#tokens.amount !== amount)
      this.#tokens = { kind, key, limit, amount, least: amount, windowMs, periodStart, fail };
    return this.#tokens;
  }

  actual(tokens: number): number {
    if (this.name === "tpm") return tokens;
    return this.name === "rpm" ? 1 : 0;
  }

  refusal({ used, freeInMs }: ClaimState, _money: Money, nowMs: number): Failure {
    const { label } = this.scope;
    const { limit } = this.#single;
    const isGauge = this.name === "concurrency";
    // The counter frees an amount up to 1/60 of the window late, and SDKs ignore a wait above 60 s.
    const windowWaitMs = Math.min(rateWindowMs, Math.max(1_000, Math.ceil(freeInMs)));
    const waitMs = isGauge ? concurrencyRetryMs : windowWaitMs;
    const wait = isGauge ? "wait for a running request to end" : `try again in ${Math.ceil(waitMs / 1_000)} s`;
    const message = `The ${this.text} is reached; ${wait} or ask for a higher limit.`;
    return new Failure("rate_limit_exceeded", message, {
      retryAfterMs: waitMs,
      reachedLimit: this.reached,
      details: { limit, used, scope: `${this.name} of ${label}`, resets_at: Math.ceil((nowMs + waitMs) / 1_000) },
    });
  }

  limitUsage({ used, freeInMs }: ClaimState, nowMs: number): LimitUsage {
    const isFree = this.name === "concurrency" || used === 0;
    const resetsAt = isFree ? null : Math.ceil((nowMs + freeInMs) / 1_000);
    const { name, scope, isShadow } = this;
    return { name, ...scopeOf(scope), isShadow, period: null, limit: this.#single.limit, used, resetsAt };
  }
}
