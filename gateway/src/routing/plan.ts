import { bounds, type Failure } from "#core/index.ts";
import type { Chance } from "#ports/index.ts";
import { backoffMs } from "./backoff.ts";
import type { Candidate } from "./candidates.ts";
import { CountedPick, type Pick, type PickWorld } from "./pick.ts";

/** The deployments for one call, in order. */
export interface Plan {
  /**
   * The first pick for null, then the one to try after `lastFailure`; null when the call has failed with it. The first
   * is null only when every deployment is at its limit of calls in flight. Never throws.
   */
  next(lastFailure: Failure | null): Pick | null;
  /** In words, a line each: why every candidate stands where it does, then what was tried and how it ended. */
  explain(): readonly string[];
}

export interface PlanWorld extends PickWorld {
  readonly chance: Chance;
}

export class OrderedPlan implements Plan {
  readonly #world: PlanWorld;
  readonly #candidates: readonly Candidate[];
  /** Why each candidate was passed over when the plan was made; null when it was well. */
  readonly #troubles: readonly (string | null)[];
  readonly #walk: string[] = [];
  #last: { readonly candidate: Candidate; readonly pick: CountedPick } | null = null;
  #attempts = 0;
  #triedUnready = false;

  constructor(candidates: readonly Candidate[], world: PlanWorld) {
    this.#world = world;
    this.#candidates = candidates;
    const nowMs = world.clock.monotonic();
    this.#troubles = candidates.map(({ circuit }) => (circuit.ready(nowMs) ? null : circuit.trouble(nowMs)));
  }

  next(lastFailure: Failure | null): Pick | null {
    const last = this.#last;
    if (last === null) return this.#first();
    // The walk has ended it already. If not, a place in flight would be lost for good.
    last.pick.end(lastFailure ?? "cancelled", 0);
    if (lastFailure === null) return null;
    this.#note(`${last.candidate.deployment.id} failed: ${lastFailure.code}, retry ${lastFailure.retry}`);
    const refusal = this.#refusal(lastFailure);
    if (refusal !== null) return this.#stop(refusal);
    return this.#repeat(last.candidate, lastFailure) ?? this.#stop("nothing else is left to try");
  }

  explain(): readonly string[] {
    const place = (troubled: boolean): string[] =>
      this.#candidates.flatMap((candidate, index) => {
        const trouble = this.#troubles[index] ?? null;
        return (trouble !== null) === troubled ? [`${describe(candidate)}: ${trouble ?? "ready"}`] : [];
      });
    const order = [...place(false), ...place(true)].map((line, index) => `${index + 1}. ${line}`);
    return [...order, ...this.#walk];
  }

  /** A call whose every deployment is unwell goes to the first of them all the same: the last one is never taken out. */
  #first(): Pick | null {
    const nowMs = this.#world.clock.monotonic();
    const ready = this.#candidates.find(({ circuit }) => circuit.ready(nowMs));
    if (ready !== undefined) return this.#take(ready, 0, "first in order");
    const unready = this.#candidates.find(({ circuit }) => !circuit.full);
    if (unready === undefined) return this.#stop("every deployment is at its limit of calls in flight");
    this.#triedUnready = true;
    return this.#take(unready, 0, "nothing is ready, so the first in order is tried all the same");
  }

  #refusal(failure: Failure): string | null {
    if (failure.retry === "never") return "this failure is not retried";
    if (this.#attempts >= bounds.attemptsMax || this.#attempts > bounds.retriesMax) return "enough attempts were made";
    return this.#world.retries.spare ? null : "too many calls are being retried at the moment";
  }

  /**
   * In this order: another deployment of the same model at once; the same one after a short wait; a fallback model; the
   * same one after the wait its upstream asked for; at last one that is not well, but only one such in a call: when all
   * are unwell, a call must not be multiplied by their number.
   * Waiting comes after what needs no wait: calls that wait use up the retry budget, so that others fail for want of it.
   */
  #repeat(last: Candidate, failure: Failure): Pick | null {
    const nowMs = this.#world.clock.monotonic();
    const ready = this.#candidates.find(({ circuit, tries }) => tries === 0 && circuit.ready(nowMs));
    if (ready !== undefined && ready.model === last.model) return this.#take(ready, 0, "next in order");
    const waitMs = failure.retryAfterMs ?? 0;
    const again = failure.retry === "same" && last.tries < 2;
    if (again && waitMs === 0 && last.circuit.ready(nowMs)) {
      const backoff = backoffMs(this.#attempts - 1, this.#world.chance.unit());
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

  #take(candidate: Candidate, waitMs: number, why: string): Pick {
    const pick = new CountedPick(candidate, this.#attempts > 0, waitMs, this.#world);
    this.#attempts++;
    this.#last = { candidate, pick };
    this.#note(`attempt ${this.#attempts} to ${candidate.deployment.id}: ${why}`);
    return pick;
  }

  #stop(why: string): null {
    this.#note(`no further attempt: ${why}`);
    return null;
  }

  #note(line: string): void {
    this.#walk.push(line);
  }
}

function describe({ model, deployment }: Candidate): string {
  const { id, provider, upstreamModel, priority, weight } = deployment;
  return `${model.name} on ${provider.id} as ${upstreamModel} (${id}, priority ${priority}, weight ${weight})`;
}
