import { bounds, type Failure, type Model } from "#core/index.ts";
import { backoffMs } from "./backoff.ts";
import type { Candidate, RoutingConstraints } from "./candidates.ts";
import type { CandidateOrder, OrderDependencies } from "./order.ts";
import type { PlaceRemark, StepRemark } from "./remarks.ts";
import { CountedSelection, type Selection, type SelectionDependencies } from "./selection.ts";
import { type PlanStory, placesOf } from "./story.ts";

/** The deployments for one call, in order. */
export interface Plan {
  /**
   * The first selection for null, then the one to try after `lastFailure`; null when the call has failed with it. The first
   * is null only when every deployment is at its limit of calls in flight. Never throws.
   */
  next(lastFailure: Failure | null): Selection | null;
  /** There was something to choose: several candidates, or one because only its account will do. */
  readonly chosen: boolean;
  /** Why every deployment stands where it does, then what was tried and how it ended. Worked out when it is asked for. */
  explain(): PlanStory;
}

/** What a plan was made from, for whoever asks it to explain itself. */
export interface PlanOrigin {
  readonly models: readonly Model[];
  readonly constraints: RoutingConstraints;
}

export interface PlanDependencies extends SelectionDependencies, OrderDependencies {}

export class OrderedPlan implements Plan {
  readonly #dependencies: PlanDependencies;
  readonly #origin: PlanOrigin;
  readonly #order: CandidateOrder;
  /** Why each candidate was passed over when the walk began; null when every one was well. */
  #problems: readonly (readonly PlaceRemark[])[] | null = null;
  /** What followed the first attempt, which most calls never come to. */
  #steps: StepRemark[] | null = null;
  #begin: Candidate | null = null;
  #beginCode: "try_first" | "try_first_unready" = "try_first";
  #last: { readonly candidate: Candidate; readonly selection: CountedSelection } | null = null;
  #attempts = 0;
  #begun = false;
  #triedUnready = false;

  constructor(order: CandidateOrder, origin: PlanOrigin, dependencies: PlanDependencies) {
    this.#order = order;
    this.#origin = origin;
    this.#dependencies = dependencies;
  }

  get chosen(): boolean {
    return this.#order.several || this.#origin.constraints.provider != null;
  }

  next(lastFailure: Failure | null): Selection | null {
    const last = this.#last;
    if (last === null) return this.#first();
    // The walk has ended it already. If not, a place in flight would be lost for good.
    last.selection.end(lastFailure ?? "cancelled", 0);
    if (lastFailure === null) return null;
    const { code, retry } = lastFailure;
    this.#note({ code: "failed", params: { deployment: last.candidate.deployment.id, code, retry } });
    const refusal = this.#refusal(lastFailure);
    if (refusal !== null) return this.#stop(refusal);
    return this.#repeat(last.candidate, lastFailure) ?? this.#stop("stop_nothing_left");
  }

  explain(): PlanStory {
    const problems = this.#begun ? this.#problems : this.#problemsNow();
    const begin = this.#begin === null ? [] : [{ code: this.#beginCode, params: placeIn(1, this.#begin) }];
    const places = placesOf({ ...this.#origin, candidates: this.#order.all(), problems });
    return { places, steps: [...begin, ...(this.#steps ?? [])] };
  }

  /** A call whose every deployment is unhealthy goes to the first of them all the same: the last one is never taken out. */
  #first(): Selection | null {
    const nowMs = this.#dependencies.clock.monotonic();
    this.#begun = true;
    this.#problems = this.#problemsNow();
    const ready = this.#order.find(({ circuit }) => circuit.ready(nowMs));
    if (ready !== null) return this.#takeFirst(ready, "try_first");
    const unready = this.#order.find(({ circuit }) => !circuit.full);
    if (unready === null) return this.#stop("stop_all_full");
    this.#triedUnready = true;
    return this.#takeFirst(unready, "try_first_unready");
  }

  #problemsNow(): readonly (readonly PlaceRemark[])[] | null {
    const { circuits, clock } = this.#dependencies;
    if (circuits.allReady) return null;
    const nowMs = clock.monotonic();
    if (this.#order.every(({ id }) => circuits.of(id).ready(nowMs))) return null;
    return this.#order.all().map(({ circuit }) => (circuit.ready(nowMs) ? [] : circuit.problem(nowMs)));
  }

  #refusal(failure: Failure): Stop | null {
    if (failure.retry === "never") return failure.arrival === "unknown" ? "stop_maybe_charged" : "stop_not_retryable";
    if (this.#attempts >= bounds.attemptsMax || this.#attempts > bounds.retriesMax) return "stop_enough_attempts";
    return this.#dependencies.retries.spare ? null : "stop_too_many_retries";
  }

  /**
   * In this order: another deployment of the same model at once; the same one after a short wait; a fallback model; the
   * same one after the wait its upstream asked for; at last one that is not well, but only one such in a call: when all
   * are unhealthy, a call must not be multiplied by their number.
   * Waiting comes after what needs no wait: calls that wait use up the retry budget, so that others fail for want of it.
   */
  #repeat(last: Candidate, failure: Failure): Selection | null {
    const nowMs = this.#dependencies.clock.monotonic();
    const ready = this.#order.find(({ circuit, tries }) => tries === 0 && circuit.ready(nowMs));
    if (ready !== null && ready.model === last.model) return this.#take(ready, 0, "try_next");
    const waitMs = failure.retryAfterMs ?? 0;
    const again = failure.retry === "same" && last.tries < 2;
    if (again && waitMs === 0 && last.circuit.ready(nowMs)) {
      const backoff = backoffMs(this.#attempts - 1, this.#dependencies.chance.unit());
      return this.#take(last, backoff, "try_same");
    }
    if (ready !== null) return this.#take(ready, 0, "try_next");
    if (again && waitMs > 0 && waitMs <= bounds.retryAfterMsMax && last.circuit.trusted && !last.circuit.full) {
      return this.#take(last, waitMs, "try_same_asked");
    }
    const unready = this.#order.find(({ circuit, tries }) => tries === 0 && !circuit.full);
    if (unready === null || this.#triedUnready) return null;
    this.#triedUnready = true;
    return this.#take(unready, 0, "try_unready");
  }

  #takeFirst(candidate: Candidate, code: "try_first" | "try_first_unready"): Selection {
    this.#begin = candidate;
    this.#beginCode = code;
    return this.#select(candidate, 0);
  }

  #take(candidate: Candidate, waitMs: number, code: Again): Selection {
    const selection = this.#select(candidate, waitMs);
    const params = placeIn(this.#attempts, candidate);
    const waits = code === "try_same" || code === "try_same_asked";
    this.#note(waits ? { code, params: { ...params, wait_ms: Math.round(waitMs) } } : { code, params });
    return selection;
  }

  #select(candidate: Candidate, waitMs: number): Selection {
    const selection = new CountedSelection(candidate, this.#attempts > 0, waitMs, this.#dependencies);
    this.#attempts++;
    this.#last = { candidate, selection };
    return selection;
  }

  #stop(code: Stop): null {
    this.#note({ code, params: {} });
    return null;
  }

  #note(step: StepRemark): void {
    this.#steps ??= [];
    this.#steps.push(step);
  }
}

type Stop = Extract<StepRemark["code"], `stop_${string}`>;
type Again = "try_next" | "try_same" | "try_same_asked" | "try_unready";

function placeIn(attempt: number, { deployment }: Candidate) {
  return { attempt, deployment: deployment.id };
}
