import { bounds, type Failure } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { Breaker, type BreakerChange, type BreakerPass, type BreakerState } from "./breaker.ts";
import type { PlaceRemark } from "./remarks.ts";

/** A deployment for metrics and the console. */
export interface DeploymentState {
  readonly deploymentId: string;
  readonly breaker: BreakerState;
  readonly inFlight: number;
  readonly coolingMs: number;
  /** Exponential mean of successful calls; null before the first. */
  readonly latencyMs: number | null;
}

export interface CircuitDependencies {
  readonly observer: Observer;
  /** Called when it becomes unhealthy (full, recovering, or breaker not closed) or healthy again. Healthy at first. */
  readonly onHealthChange: (sound: boolean) => void;
  /** Called when a cooldown begins that ends at this monotonic time. */
  readonly onCool: (untilMs: number) => void;
}

const latencyGain = 0.1;
/** Traffic returns in steps: a tenth when the breaker closes, then a fifth more every six seconds. */
const recovery = { first: 0.1, steps: 5, stepMs: 6_000 } as const;
/** For a refusal without Retry-After, doubled each time until a call succeeds. */
const refusalCoolMs = { first: 1_000, most: 30_000 } as const;

/** The health of a deployment: breaker, calls in flight, cooling. */
export class Circuit {
  readonly deploymentId: string;
  readonly #dependencies: CircuitDependencies;
  readonly #breaker = new Breaker();
  #inFlight = 0;
  #isHealthy = true;
  #latencyMs: number | null = null;
  /** null: it gets all of its traffic. */
  #closedAtMs: number | null = null;
  /** The account was checked; the next probe is a call. */
  #checked = false;
  /** Consecutive refusals without Retry-After. */
  #refusals = 0;
  readonly #repeats = new RepeatTokens();
  #cooldown: { readonly untilMs: number; readonly cause: PlaceRemark } | null = null;

  constructor(deploymentId: string, dependencies: CircuitDependencies) {
    this.deploymentId = deploymentId;
    this.#dependencies = dependencies;
  }

  get full(): boolean {
    return this.#inFlight >= bounds.deploymentInFlightMax;
  }

  /** It can be forgotten. */
  isAtRest(nowMs: number): boolean {
    return this.#inFlight === 0 && this.#breaker.state === "closed" && !this.#isCooling(nowMs);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get latencyMs(): number | null {
    return this.#latencyMs;
  }

  get isRecovering(): boolean {
    return this.#closedAtMs !== null;
  }

  /** The share of its traffic, 0 to 1. */
  share(nowMs: number): number {
    if (this.#closedAtMs === null) return 1;
    const step = Math.floor((nowMs - this.#closedAtMs) / recovery.stepMs);
    if (step < recovery.steps) return Math.max(recovery.first, step / recovery.steps);
    this.#closedAtMs = null;
    return 1;
  }

  needsCheck(nowMs: number): boolean {
    return !this.trusted && !this.#checked && this.#breaker.admits(nowMs);
  }

  /** Probes with a check instead of a call. The returned function ends the check. */
  beginCheck(nowMs: number): (answered: boolean, nowMs: number) => void {
    const { pass, change } = this.#breaker.begin(nowMs);
    this.#report(change, nowMs);
    return (answered, endMs) => {
      if (answered) this.#breaker.pass(pass);
      else this.#report(this.#breaker.fail(pass, endMs), endMs);
      this.skipCheck();
    };
  }

  skipCheck(): void {
    this.#checked = !this.trusted;
  }

  ready(nowMs: number): boolean {
    return !this.full && this.#breaker.admits(nowMs) && !this.#isCooling(nowMs);
  }

  /** Why it is skipped; empty if it is not. */
  problem(nowMs: number): readonly PlaceRemark[] {
    if (this.full) return [{ code: "full", params: { in_flight: this.#inFlight } }];
    const coolingMs = this.#coolingMs(nowMs);
    if (coolingMs > 0) {
      const code = this.#breaker.openForMs(nowMs) > 0 ? "breaker_open" : "cooling";
      const seconds = Math.round(coolingMs / 100) / 10;
      return [{ code, params: { seconds } }, ...(this.#cooldown === null ? [] : [this.#cooldown.cause])];
    }
    return this.#breaker.admits(nowMs) ? [] : [{ code: "half_open", params: {} }];
  }

  /** For a second attempt of the same call. */
  takeRepeat(nowMs: number): boolean {
    return this.#repeats.take(nowMs);
  }

  /** The breaker is closed; otherwise one call does not try it twice. */
  get trusted(): boolean {
    return this.#breaker.state === "closed";
  }

  begin(nowMs: number): BreakerPass {
    this.#inFlight++;
    const { pass, change } = this.#breaker.begin(nowMs);
    this.#report(change, nowMs);
    return pass;
  }

  /** A running attempt has shown that the deployment works. Returns the pass for its end. */
  answer(pass: BreakerPass, nowMs: number): BreakerPass {
    const change = this.#breaker.succeed(pass, nowMs);
    this.#report(change, nowMs);
    return change === null ? pass : this.#breaker.begin(nowMs).pass;
  }

  succeed(pass: BreakerPass, nowMs: number, latencyMs: number): void {
    this.#inFlight--;
    this.#refusals = 0;
    this.#repeats.succeeded();
    this.#latencyMs =
      this.#latencyMs === null ? latencyMs : this.#latencyMs + latencyGain * (latencyMs - this.#latencyMs);
    this.#report(this.#breaker.succeed(pass, nowMs), nowMs);
  }

  fail(pass: BreakerPass, nowMs: number, failure: Failure): void {
    this.#inFlight--;
    const change = failure.unhealthy ? this.#breaker.fail(pass, nowMs) : null;
    if (!failure.unhealthy) this.#breaker.pass(pass);
    this.#report(change, nowMs);
    // Other codes concern the gateway itself.
    if (failure.code !== "upstream_error") return;
    const { retryAfterMs = 0, cools, unhealthy } = failure;
    // Retry-After in a refusal of the request does not apply to other calls.
    if (retryAfterMs > 0 && (cools === "now" || unhealthy)) {
      this.#cool(nowMs + Math.min(retryAfterMs, bounds.coolMsMax), { code: "upstream_asked_to_wait", params: {} });
    } else if (cools === "now") this.coolAfterRefusal(nowMs);
  }

  /** For a refusal of the account. Simultaneous ones count once. */
  coolAfterRefusal(nowMs: number): void {
    if (this.#isCooling(nowMs)) return;
    const coolMs = Math.min(refusalCoolMs.most, refusalCoolMs.first * 2 ** this.#refusals++);
    this.#cool(nowMs + coolMs, { code: "refused_a_call", params: {} });
  }

  cancel(pass: BreakerPass, nowMs: number): void {
    this.#inFlight--;
    this.#breaker.pass(pass);
    this.#report(null, nowMs);
  }

  state(nowMs: number): DeploymentState {
    return {
      deploymentId: this.deploymentId,
      breaker: this.#breaker.state,
      inFlight: this.#inFlight,
      coolingMs: this.#coolingMs(nowMs),
      latencyMs: this.#latencyMs,
    };
  }

  #coolingMs(nowMs: number): number {
    return Math.max(0, (this.#cooldown?.untilMs ?? 0) - nowMs, this.#breaker.openForMs(nowMs));
  }

  #isCooling(nowMs: number): boolean {
    return this.#cooldown !== null && this.#cooldown.untilMs > nowMs;
  }

  #report(change: BreakerChange | null, nowMs: number): void {
    if (change !== null) this.#reportChange(change, nowMs);
    const isHealthy = this.trusted && !this.full && this.share(nowMs) === 1;
    if (isHealthy === this.#isHealthy) return;
    this.#isHealthy = isHealthy;
    this.#dependencies.onHealthChange(isHealthy);
  }

  #reportChange({ state, reason, cause, openMs }: BreakerChange, nowMs: number): void {
    this.#closedAtMs = state === "closed" ? nowMs : null;
    if (state !== "half-open") this.#checked = false;
    if (cause !== null) this.#cool(nowMs + openMs, cause);
    if (state === "closed") this.#cooldown = null;
    this.#dependencies.observer.breakerChange(this.deploymentId, state, reason);
  }

  /** The later end wins: a short Retry-After does not shorten a breaker's cooldown. */
  #cool(untilMs: number, cause: PlaceRemark): void {
    if (untilMs <= (this.#cooldown?.untilMs ?? 0)) return;
    this.#cooldown = { untilMs, cause };
    this.#dependencies.onCool(untilMs);
  }
}

/** Each repeat takes a token; time and successes return tokens. */
const repeatTokens = { most: 10, perSecond: 1, perSuccess: 0.2 } as const;

class RepeatTokens {
  #left: number = repeatTokens.most;
  #countedMs = 0;

  take(nowMs: number): boolean {
    this.#give(((nowMs - this.#countedMs) / 1_000) * repeatTokens.perSecond);
    this.#countedMs = nowMs;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }

  succeeded(): void {
    this.#give(repeatTokens.perSuccess);
  }

  #give(count: number): void {
    this.#left = Math.min(repeatTokens.most, this.#left + count);
  }
}
