import type { Deployment, Failure, Model } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { BreakerPass } from "./breaker.ts";
import type { Candidate } from "./order.ts";

export type Selection = Pick<CountedSelection, "model" | "deployment" | "waitMs" | "answered" | "streamed" | "end">;

/** After this long a stream shows that its deployment is back. One that breaks sooner is a failed probe. */
const probeStreamMs = 10_000;

type Served = (candidate: Candidate) => void;

/** One deployment for one attempt. It holds a place in flight until it is ended. */
export class CountedSelection {
  readonly model: Model;
  readonly deployment: Deployment;
  readonly waitMs: number;
  readonly #candidate: Candidate;
  readonly #served: Served | null;
  readonly #clock: Clock;
  #pass: BreakerPass;
  #probes: boolean;
  /** When a probe's content began. */
  #contentMs: number | null = null;
  #ended = false;

  /** `nowMs`: monotonic. */
  constructor(candidate: Candidate, waitMs: number, served: Served | null, clock: Clock, nowMs: number) {
    this.model = candidate.model;
    this.deployment = candidate.deployment;
    this.waitMs = waitMs;
    this.#candidate = candidate;
    this.#served = served;
    this.#clock = clock;
    candidate.tries++;
    this.#probes = !candidate.circuit.trusted;
    this.#pass = candidate.circuit.begin(nowMs);
  }

  /** The first event or the whole answer has come. */
  answered(): void {
    this.#served?.(this.#candidate);
  }

  /** Content of a stream has come. After probeStreamMs a probe counts as successful before its stream ends. */
  streamed(): void {
    if (!this.#probes || this.#ended) return;
    const nowMs = this.#clock.monotonic();
    this.#contentMs ??= nowMs;
    if (nowMs - this.#contentMs < probeStreamMs) return;
    this.#probes = false;
    this.#pass = this.#candidate.circuit.answer(this.#pass, nowMs);
  }

  /** The first end counts. `cancelled`: the caller disconnected. `latencyMs` is of the whole attempt, `nowMs` monotonic. */
  end(result: "ok" | "cancelled" | Failure, latencyMs: number, nowMs: number = this.#clock.monotonic()): void {
    if (this.#ended) return;
    this.#ended = true;
    const { circuit } = this.#candidate;
    if (result === "ok") circuit.succeed(this.#pass, nowMs, latencyMs);
    else if (result === "cancelled") circuit.cancel(this.#pass, nowMs);
    else circuit.fail(this.#pass, nowMs, result);
  }
}
