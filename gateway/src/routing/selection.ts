import type { Deployment, Failure, Model } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { BreakerPass } from "./breaker.ts";
import type { Candidate } from "./order.ts";

/** One deployment for one attempt. It holds a place in flight until it is ended. */
export interface Selection {
  readonly model: Model;
  readonly deployment: Deployment;
  /** To be waited before sending; 0 for at once. */
  readonly waitMs: number;
  /** The first event or the whole answer is there. Optional: a recovered deployment is then known before a long stream ends. */
  answered(): void;
  /**
   * The first end counts, later ones do nothing. `cancelled`: the caller went away, which says nothing about the deployment.
   * `latencyMs` is the attempt's total; `nowMs`: monotonic, where it was read just now.
   */
  end(result: "ok" | "cancelled" | Failure, latencyMs: number, nowMs?: number): void;
}

export class CountedSelection implements Selection {
  readonly model: Model;
  readonly deployment: Deployment;
  readonly waitMs: number;
  readonly #candidate: Candidate;
  /** Called for each sign that it serves the call; null: nobody wants to know. */
  readonly #served: ((candidate: Candidate) => void) | null;
  readonly #clock: Clock;
  readonly #pass: BreakerPass;
  #ended = false;

  constructor(candidate: Candidate, waitMs: number, served: ((candidate: Candidate) => void) | null, clock: Clock) {
    this.model = candidate.model;
    this.deployment = candidate.deployment;
    this.waitMs = waitMs;
    this.#candidate = candidate;
    this.#served = served;
    this.#clock = clock;
    candidate.tries++;
    this.#pass = candidate.circuit.begin(clock.monotonic());
  }

  answered(): void {
    const { circuit } = this.#candidate;
    this.#served?.(this.#candidate);
    if (!this.#ended && !circuit.trusted) circuit.answer(this.#pass, this.#clock.monotonic());
  }

  end(result: "ok" | "cancelled" | Failure, latencyMs: number, nowMs: number = this.#clock.monotonic()): void {
    if (this.#ended) return;
    this.#ended = true;
    const { circuit } = this.#candidate;
    if (result === "ok") circuit.succeed(this.#pass, nowMs, latencyMs);
    else if (result === "cancelled") circuit.cancel(this.#pass, nowMs);
    else circuit.fail(this.#pass, nowMs, result);
  }
}
