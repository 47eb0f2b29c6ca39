import { bounds, type Failure, type Model } from "#core/index.ts";
import type { Chance } from "#ports/index.ts";
import { backoffMs } from "./backoff.ts";
import type { Candidate, RoutingConstraints } from "./candidates.ts";
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

export interface PlanDependencies extends SelectionDependencies {
  readonly chance: Chance;
}

export class OrderedPlan implements Plan {
  readonly #dependencies: PlanDependencies;
  readonly #origin: PlanOrigin;
  readonly #candidates: readonly Candidate[];
  /** Why each candidate was passed over when the walk began; null when every one was well. */
  #problems: readonly (string | null)[] | null = null;
  /** Lines about what followed the first attempt, which most calls never come to. */
  #walk: string[] | null = null;
  #begin: Candidate | null = null;
  #beginWhy = "";
  #last: { readonly candidate: Candidate; readonly selection: CountedSelection } | null = null;
  #attempts = 0;
  #begun = false;
  #triedUnready = false;

  constructor(candidates: readonly Candidate[], origin: PlanOrigin, dependencies: PlanDependencies) {
    this.#candidates = candidates;
    this.#origin = origin;
    this.#dependencies = dependencies;
  }

  get chosen(): boolean {
    return this.#candidates.length > 1 || this.#origin.constraints.provider != null;
  }

  next(lastFailure: Failure | null): Selection | null {
    const last = this.#last;
    if (last === null) return this.#first();
    // The walk has ended it already. If not, a place in flight would be lost for good.
    last.selection.end(lastFailure ?? "cancelled", 0);
    if (lastFailure === null) return null;
    this.#note(`${last.candidate.deployment.id} failed: ${lastFailure.code}, retry ${lastFailure.retry}`);
    const refusal = this.#refusal(lastFailure);
    if (refusal !== null) return this.#stop(refusal);
    return this.#repeat(last.candidate, lastFailure) ?? this.#stop("nothing else is left to try");
  }

  explain(): PlanStory {
    const problems = this.#begun ? this.#problems : this.#problemsNow();
    const begin = this.#begin === null ? [] : [line(1, this.#begin, this.#beginWhy)];
    const places = placesOf({ ...this.#origin, candidates: this.#candidates, problems });
    return { places, walk: [...begin, ...(this.#walk ?? [])] };
  }

  /** A call whose every deployment is unhealthy goes to the first of them all the same: the last one is never taken out. */
  #first(): Selection | null {
    const nowMs = this.#dependencies.clock.monotonic();
    this.#begun = true;
    this.#problems = this.#problemsNow();
    const ready = this.#candidates.find(({ circuit }) => circuit.ready(nowMs));
    if (ready !== undefined) return this.#take(ready, 0, "first in order");
    const unready = this.#candidates.find(({ circuit }) => !circuit.full);
    if (unready === undefined) return this.#stop("every deployment is at its limit of calls in flight");
    this.#triedUnready = true;
    return this.#take(unready, 0, "nothing is ready, so the first in order is tried all the same");
  }

  #problemsNow(): readonly (string | null)[] | null {
    const nowMs = this.#dependencies.clock.monotonic();
    if (this.#candidates.every(({ circuit }) => circuit.ready(nowMs))) return null;
    return this.#candidates.map(({ circuit }) => (circuit.ready(nowMs) ? null : circuit.problem(nowMs)));
  }

  #refusal(failure: Failure): string | null {
    if (failure.retry === "never") return failure.arrival === "unknown" ? sentAlready : "this failure is not retried";
    if (this.#attempts >= bounds.attemptsMax || this.#attempts > bounds.retriesMax) return "enough attempts were made";
    return this.#dependencies.retries.spare ? null : "too many calls are being retried at the moment";
  }

  /**
   * In this order: another deployment of the same model at once; the same one after a short wait; a fallback model; the
   * same one after the wait its upstream asked for; at last one that is not well, but only one such in a call: when all
   * are unhealthy, a call must not be multiplied by their number.
   * Waiting comes after what needs no wait: calls that wait use up the retry budget, so that others fail for want of it.
   */
  #repeat(last: Candidate, failure: Failure): Selection | null {
    const nowMs = this.#dependencies.clock.monotonic();
    const ready = this.#candidates.find(({ circuit, tries }) => tries === 0 && circuit.ready(nowMs));
    if (ready !== undefined && ready.model === last.model) return this.#take(ready, 0, "next in order");
    const waitMs = failure.retryAfterMs ?? 0;
    const again = failure.retry === "same" && last.tries < 2;
    if (again && waitMs === 0 && last.circuit.ready(nowMs)) {
      const backoff = backoffMs(this.#attempts - 1, this.#dependencies.chance.unit());
      return this.#take(last, backoff, `the same again after ${Math.round(backoff)} ms`);
    }
    if (ready !== undefined) return this.#take(ready, 0, "next in order");
    if (again && waitMs > 0 && waitMs <= bounds.retryAfterMsMax && last.circuit.trusted && !last.circuit.full) {
      return this.#take(last, waitMs, `the same again after the ${waitMs} ms its upstream asked for`);
    }
    const unready = this.#candidates.find(({ circuit, tries }) => tries === 0 && !circuit.full);
    if (unready === undefined || this.#triedUnready) return null;
    this.#triedUnready = true;
    return this.#take(unready, 0, "nothing is ready, so one that is not is tried");
  }

  #take(candidate: Candidate, waitMs: number, why: string): Selection {
    const selection = new CountedSelection(candidate, this.#attempts > 0, waitMs, this.#dependencies);
    this.#attempts++;
    this.#last = { candidate, selection };
    if (this.#begin === null) {
      this.#begin = candidate;
      this.#beginWhy = why;
    } else this.#note(line(this.#attempts, candidate, why));
    return selection;
  }

  #stop(why: string): null {
    this.#note(`no further attempt: ${why}`);
    return null;
  }

  #note(text: string): void {
    this.#walk ??= [];
    this.#walk.push(text);
  }
}

const sentAlready = "it was sent and may be charged, so it is sent nowhere else (settings.retry_sent)";

function line(attempt: number, { deployment }: Candidate, why: string): string {
  return `attempt ${attempt} to ${deployment.id}: ${why}`;
}
