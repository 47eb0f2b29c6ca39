import type { Deployment, Failure, Model } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { BreakerPass } from "./breaker.ts";
import type { Candidate } from "./candidates.ts";

/** `cancelled`: the caller went away, which says nothing about the deployment. */
export type SelectionEnd = "ok" | "cancelled" | Failure;

/** One deployment for one attempt. It holds a place in flight until it is ended. */
export interface Selection {
  readonly model: Model;
  readonly deployment: Deployment;
  /** To be waited before sending; 0 for at once. */
  readonly waitMs: number;
  /** The first event or the whole answer is there. Optional: a recovered deployment is then known before a long stream ends. */
  answered(): void;
  /** The first end counts, later ones do nothing. `latencyMs` is the attempt's total; `nowMs`: monotonic, where it was read just now. */
  end(result: SelectionEnd, latencyMs: number, nowMs?: number): void;
}

export interface SelectionDependencies {
  readonly clock: Clock;
}

/** A plan that wants to know who serves the call. */
export interface ServedPlan {
  servedBy(candidate: Candidate): void;
}

export class CountedSelection implements Selection {
  readonly waitMs: number;
  readonly #candidate: Candidate;
  readonly #plan: ServedPlan | null;
  readonly #dependencies: SelectionDependencies;
  readonly #pass: BreakerPass;
  #ended = false;

  constructor(candidate: Candidate, waitMs: number, plan: ServedPlan | null, dependencies: SelectionDependencies) {
    this.waitMs = waitMs;
    this.#candidate = candidate;
    this.#plan = plan;
    this.#dependencies = dependencies;
    candidate.tries++;
    this.#pass = candidate.circuit.begin(dependencies.clock.monotonic());
  }

  get model(): Model {
    return this.#candidate.model;
  }

  get deployment(): Deployment {
    return this.#candidate.deployment;
  }

  answered(): void {
    const { circuit } = this.#candidate;
    this.#plan?.servedBy(this.#candidate);
    if (!this.#ended && !circuit.trusted) circuit.answer(this.#pass, this.#dependencies.clock.monotonic());
  }

  end(result: SelectionEnd, latencyMs: number, nowMs: number = this.#dependencies.clock.monotonic()): void {
    if (this.#ended) return;
    this.#ended = true;
    const { circuit } = this.#candidate;
    if (result === "ok") circuit.succeed(this.#pass, nowMs, latencyMs);
    else if (result === "cancelled") circuit.cancel(this.#pass, nowMs);
    else circuit.fail(this.#pass, nowMs, result);
  }
}
