import { bounds, type Failure } from "#core/index.ts";
import type { HealthBoard, Observer } from "#ports/index.ts";
import { Breaker, type BreakerChange, type BreakerPass, type BreakerState } from "./breaker.ts";

/** One deployment as metrics and the console see it. */
export interface DeploymentState {
  readonly deploymentId: string;
  readonly breaker: BreakerState;
  readonly inFlight: number;
  /** Milliseconds it will still be passed over; 0 when it is not cooling. */
  readonly coolingMs: number;
  /** Recent successful calls, an exponential mean; null before the first. */
  readonly latencyMs: number | null;
}

export interface CircuitDependencies {
  readonly board: HealthBoard;
  readonly observer: Observer;
}

/** How much one call moves the mean latency. */
const latencyGain = 0.1;

/** What is known of one deployment: its breaker, its calls in flight, and how long it cools. */
export class Circuit {
  readonly deploymentId: string;
  readonly #dependencies: CircuitDependencies;
  readonly #breaker = new Breaker();
  #inFlight = 0;
  #latencyMs: number | null = null;
  /** Why it was last set to cool from here, and until when that holds; what lasts longer was set by a replica. */
  #reason = "";
  #reasonUntilMs = 0;

  constructor(deploymentId: string, dependencies: CircuitDependencies) {
    this.deploymentId = deploymentId;
    this.#dependencies = dependencies;
  }

  get full(): boolean {
    return this.#inFlight >= bounds.deploymentInFlightMax;
  }

  /** True when forgetting it would lose nothing. */
  get atRest(): boolean {
    return this.#inFlight === 0 && this.#breaker.state === "closed";
  }

  /** True when it should be preferred to one that is not. */
  ready(nowMs: number): boolean {
    return (
      !this.full && this.#breaker.admits(nowMs) && this.#dependencies.board.coolingUntil(this.deploymentId) <= nowMs
    );
  }

  /** In words why it is passed over, or null when it is not. */
  problem(nowMs: number): string | null {
    if (this.full) return `full, ${this.#inFlight} calls in flight`;
    const coolingMs = this.#coolingMs(nowMs);
    if (coolingMs > 0) {
      const what = this.#breaker.openForMs(nowMs) > 0 ? "breaker open" : "cooling";
      const why = nowMs < this.#reasonUntilMs ? this.#reason : "told by a replica";
      return `${what} for ${(coolingMs / 1_000).toFixed(1)} s: ${why}`;
    }
    return this.#breaker.admits(nowMs) ? null : "half-open, its probe is under way";
  }

  /** False while the breaker has it out: then it is not tried twice by one call, whatever its upstream asks to wait. */
  get trusted(): boolean {
    return this.#breaker.state === "closed";
  }

  begin(nowMs: number): BreakerPass {
    this.#inFlight++;
    const { pass, change } = this.#breaker.begin(nowMs);
    this.#tell(change, nowMs);
    return pass;
  }

  /** A first sign of success while the attempt goes on: a probe need not wait for the end of a long stream. */
  answer(pass: BreakerPass, nowMs: number): void {
    if (!this.trusted) this.#tell(this.#breaker.succeed(pass, nowMs), nowMs);
  }

  succeed(pass: BreakerPass, nowMs: number, latencyMs: number): void {
    this.#inFlight--;
    this.#latencyMs =
      this.#latencyMs === null ? latencyMs : this.#latencyMs + latencyGain * (latencyMs - this.#latencyMs);
    this.#tell(this.#breaker.succeed(pass, nowMs), nowMs);
  }

  fail(pass: BreakerPass, nowMs: number, failure: Failure): void {
    this.#inFlight--;
    if (failure.unhealthy) this.#tell(this.#breaker.fail(pass, nowMs), nowMs);
    else this.#breaker.pass(pass);
    if (failure.retryAfterMs === undefined || failure.retryAfterMs <= 0) return;
    this.#cool(nowMs + Math.min(failure.retryAfterMs, bounds.coolMsMax), "its upstream asked to wait");
  }

  cancel(pass: BreakerPass): void {
    this.#inFlight--;
    this.#breaker.pass(pass);
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
    const boardMs = this.#dependencies.board.coolingUntil(this.deploymentId) - nowMs;
    return Math.max(0, boardMs, this.#breaker.openForMs(nowMs));
  }

  #tell(change: BreakerChange | null, nowMs: number): void {
    if (change === null) return;
    const { state, reason, openMs } = change;
    if (state === "open") this.#cool(nowMs + openMs, reason);
    if (state === "closed") {
      this.#reasonUntilMs = 0;
      this.#dependencies.board.clear(this.deploymentId);
    }
    this.#dependencies.observer.breakerChange(this.deploymentId, state, reason);
  }

  #cool(untilMs: number, reason: string): void {
    if (untilMs > this.#reasonUntilMs) {
      this.#reason = reason;
      this.#reasonUntilMs = untilMs;
    }
    this.#dependencies.board.cool(this.deploymentId, untilMs, reason);
  }
}
