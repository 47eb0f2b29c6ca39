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
  /** The first event or the whole answer is there. Optional. */
  answered(): void;
  /**
   * Content of a stream has come. Optional: a deployment that was down is trusted again when its probe has streamed for a while, and
   * a long answer need not end first.
   */
  streamed(): void;
  /**
   * The first end counts, later ones do nothing. `cancelled`: the caller went away, which says nothing about the deployment.
   * `latencyMs` is the attempt's total; `nowMs`: monotonic, where it was read just now.
   */
  end(result: "ok" | "cancelled" | Failure, latencyMs: number, nowMs?: number): void;
}

/** A stream that has gone on for so long shows that its deployment is back. One that breaks sooner is a failed probe. */
const probeStreamMs = 10_000;

export class CountedSelection implements Selection {
  readonly model: Model;
  readonly deployment: Deployment;
  readonly waitMs: number;
  readonly #candidate: Candidate;
  /** Called for each sign that it serves the call; null: nobody wants to know. */
  readonly #served: ((candidate: Candidate) => void) | null;
  readonly #clock: Clock;
  #pass: BreakerPass;
  /** The deployment was down, and this attempt may show that it is back. */
  #probes: boolean;
  /** When a probe's content began; null: it has not. */
  #contentMs: number | null = null;
  #ended = false;

  constructor(candidate: Candidate, waitMs: number, served: ((candidate: Candidate) => void) | null, clock: Clock) {
    this.model = candidate.model;
    this.deployment = candidate.deployment;
    this.waitMs = waitMs;
    this.#candidate = candidate;
    this.#served = served;
    this.#clock = clock;
    candidate.tries++;
    this.#probes = !candidate.circuit.trusted;
    this.#pass = candidate.circuit.begin(clock.monotonic());
  }

  answered(): void {
    this.#served?.(this.#candidate);
  }

  streamed(): void {
    if (!this.#probes || this.#ended) return;
    const nowMs = this.#clock.monotonic();
    this.#contentMs ??= nowMs;
    if (nowMs - this.#contentMs < probeStreamMs) return;
    this.#probes = false;
    this.#pass = this.#candidate.circuit.answer(this.#pass, nowMs);
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
