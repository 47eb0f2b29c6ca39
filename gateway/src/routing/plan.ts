import { bounds, type Failure } from "#core/index.ts";
import type { Circuit } from "./circuit.ts";
import { type PlanExplanation, type PlanOrigin, placesOf } from "./explanation.ts";
import type { Candidate, CandidateOrder, PlanDependencies } from "./order.ts";
import type { PlaceRemark, StepRemark } from "./remarks.ts";
import { CountedSelection, type Selection } from "./selection.ts";

export class Plan {
  readonly #dependencies: PlanDependencies;
  readonly #origin: PlanOrigin;
  readonly #order: CandidateOrder;
  /** The health of each candidate at the start; null: all were healthy. */
  #problems: readonly (readonly PlaceRemark[])[] | null = null;
  /** After the first attempt. */
  #steps: StepRemark[] | null = null;
  #begin: Candidate | null = null;
  #beginCode: "try_first" | "try_first_unready" = "try_first";
  #last: { readonly candidate: Candidate; readonly selection: CountedSelection } | null = null;
  #attempts = 0;
  #begun = false;
  /** Attempts after one that may have been executed. */
  #resends = 0;
  #triedOpen = false;
  /** A call repeats a deployment only once. */
  #repeated = false;
  #repeatsUsedUp = false;
  /** The prompt exceeds context windows of this size, and unknown ones. */
  #tooLongFor: number | null = null;
  /** Refusals that may be the account's fault, which another deployment's success proves. */
  #suspects: { readonly candidate: Candidate; readonly forbidden: boolean }[] | null = null;

  constructor(order: CandidateOrder, origin: PlanOrigin, dependencies: PlanDependencies) {
    this.#order = order;
    this.#origin = origin;
    this.#dependencies = dependencies;
  }

  /** There was more than one option. */
  get chosen(): boolean {
    return this.#order.several || this.#origin.constraints.provider != null;
  }

  /**
   * The first selection for null, then the next one after `lastFailure`; null if the call has failed. The first is null
   * only if every deployment is at its limit of calls in flight. Never throws.
   */
  next(lastFailure: Failure | null): Selection | null {
    const last = this.#last;
    if (last === null) return this.#first();
    // Otherwise its slot would never be freed.
    last.selection.end(lastFailure ?? "cancelled", 0);
    if (lastFailure === null) return null;
    const { code, retry } = lastFailure;
    // Nothing was tried: the provider's budget is used up.
    if (lastFailure.reachedLimit !== undefined) this.#attempts--;
    this.#note({ code: "failed", params: { deployment: last.candidate.deployment.id, code, retry } });
    if (lastFailure.contextLength) {
      this.#tooLongFor = Math.max(this.#tooLongFor ?? 0, last.candidate.deployment.contextWindow ?? 0);
    }
    if (lastFailure.cools === "once_served_elsewhere") {
      this.#suspects ??= [];
      this.#suspects.push({ candidate: last.candidate, forbidden: lastFailure.upstream?.status === 403 });
    }
    const end = this.#endAfter(lastFailure);
    return end === null ? this.#after(last.candidate, lastFailure) : this.#stop(end);
  }

  explain(): PlanExplanation {
    const { clock } = this.#dependencies;
    const problems = this.#begun ? this.#problems : this.#problemsAt(clock.monotonic());
    const begin = this.#begin === null ? [] : [{ code: this.#beginCode, params: placeIn(1, this.#begin) }];
    const places = placesOf({ ...this.#origin, candidates: this.#order.all(), problems });
    return { places, steps: [...begin, ...(this.#steps ?? [])] };
  }

  /** A ready deployment, else a cooling one, else one with an open breaker: the last one is always tried. */
  #first(): Selection | null {
    const nowMs = this.#dependencies.clock.monotonic();
    this.#begun = true;
    const ready = this.#firstReady(nowMs);
    this.#problems = this.#problemsAt(nowMs);
    if (ready !== null) return this.#takeFirst(ready, "try_first", nowMs);
    const unready = this.#untried(({ circuit }) => circuit.trusted) ?? this.#untried(() => true);
    if (unready === null) return this.#stop("stop_all_full");
    return this.#takeFirst(unready, "try_first_unready", nowMs);
  }

  #firstReady(nowMs: number): Candidate | null {
    for (let index = 0; ; index++) {
      const candidate = this.#order.at(index);
      if (candidate === null || this.#isReady(candidate, nowMs)) return candidate;
    }
  }

  #endAfter({ retry, arrival, contextLength }: Failure): Stop | null {
    const goesOn = contextLength && arrival !== "unknown" && this.#untried(() => true) !== null;
    if (retry === "never" && !goesOn) return arrival === "unknown" ? "stop_maybe_charged" : "stop_not_retryable";
    if (arrival === "unknown" || arrival === "stale") this.#resends++;
    return this.#attempts >= bounds.attemptsMax || this.#resends > bounds.resendsMax ? "stop_enough_attempts" : null;
  }

  /**
   * Refused and unsent requests cost nothing, so every other deployment is tried: ready ones first, then cooling ones, and
   * only one with an open breaker, so that an outage does not multiply calls. One deployment is repeated once, after a
   * wait, if the failure allows it and a token is left: before the fallback models if it is ready, after all others if it
   * cools.
   */
  #after(last: Candidate, failure: Failure): Selection | null {
    const nowMs = this.#dependencies.clock.monotonic();
    const ready = this.#untried((candidate) => this.#isReady(candidate, nowMs));
    const next = failure.contextLength ? "try_larger" : "try_next";
    if (ready !== null && ready.model === last.model) return this.#take(ready, 0, next);
    const retryAfterMs = failure.retryAfterMs ?? 0;
    const { trusted, full } = last.circuit;
    const isRepeatable = failure.retry === "same" && !this.#repeated && trusted && !full;
    if (isRepeatable && retryAfterMs === 0 && last.circuit.ready(nowMs)) {
      const again = this.#repeat(last, failure, nowMs);
      if (again !== null) return again;
    }
    if (ready !== null) return this.#take(ready, 0, next);
    const cooling = this.#untried(({ circuit }) => circuit.trusted);
    if (cooling !== null) return this.#take(cooling, 0, "try_unready");
    if (isRepeatable && retryAfterMs <= bounds.retryAfterMsMax) {
      const again = this.#repeat(last, failure, nowMs);
      if (again !== null) return again;
    }
    const open = this.#triedOpen ? null : this.#untried(() => true);
    if (open !== null) return this.#take(open, 0, "try_unready");
    return this.#stop(this.#repeatsUsedUp ? "stop_too_many_repeats" : "stop_nothing_left");
  }

  /** A request lost on a stale connection needs no token. */
  #repeat(last: Candidate, { retryAfterMs = 0, arrival }: Failure, nowMs: number): Selection | null {
    if (arrival !== "stale" && !last.circuit.takeRepeat(nowMs)) {
      this.#repeatsUsedUp = true;
      return null;
    }
    this.#repeated = true;
    if (retryAfterMs > 0) return this.#take(last, retryAfterMs, "try_same_asked");
    return this.#take(last, backoffMs(this.#attempts - 1, this.#dependencies.chance.unit()), "try_same");
  }

  #untried(holds: (candidate: Candidate) => boolean): Candidate | null {
    return this.#order.find(
      (candidate) => candidate.tries === 0 && !candidate.circuit.full && this.#fits(candidate) && holds(candidate),
    );
  }

  #isReady({ circuit, deployment, heldBack }: Candidate, nowMs: number): boolean {
    if (heldBack || !circuit.ready(nowMs)) return false;
    return !circuit.needsCheck(nowMs) || !this.#dependencies.circuits.check(circuit, deployment);
  }

  #fits({ deployment }: Candidate): boolean {
    return this.#tooLongFor === null || (deployment.contextWindow ?? 0) > this.#tooLongFor;
  }

  /** Cools suspects after another deployment's success. Vendors forbid different things, so a 403 counts only within one provider type. */
  #servedBy({ deployment }: Candidate): void {
    const nowMs = this.#dependencies.clock.monotonic();
    for (const { candidate, forbidden } of this.#suspects ?? []) {
      if (forbidden && candidate.deployment.provider.kind !== deployment.provider.kind) continue;
      candidate.circuit.coolAfterRefusal(nowMs);
    }
    this.#suspects = null;
  }

  #problemsAt(nowMs: number): readonly (readonly PlaceRemark[])[] | null {
    const { circuits } = this.#dependencies;
    if (circuits.allReady(nowMs)) return null;
    const isWell = (circuit: Circuit): boolean => circuit.ready(nowMs) && !circuit.isRecovering;
    if (this.#order.every(({ id }) => isWell(circuits.of(id)))) return null;
    return this.#order.all().map(({ circuit, heldBack }) => {
      if (!circuit.ready(nowMs)) return circuit.problem(nowMs);
      return heldBack ? [{ code: "recovering", params: { percent: Math.round(circuit.share(nowMs) * 100) } }] : [];
    });
  }

  #takeFirst(candidate: Candidate, code: "try_first" | "try_first_unready", nowMs: number): Selection {
    this.#begin = candidate;
    this.#beginCode = code;
    return this.#select(candidate, 0, nowMs);
  }

  #take(candidate: Candidate, waitMs: number, code: Again): Selection {
    const selection = this.#select(candidate, waitMs, this.#dependencies.clock.monotonic());
    const params = placeIn(this.#attempts, candidate);
    const waits = code === "try_same" || code === "try_same_asked";
    this.#note(waits ? { code, params: { ...params, wait_ms: Math.round(waitMs) } } : { code, params });
    return selection;
  }

  #select(candidate: Candidate, waitMs: number, nowMs: number): Selection {
    this.#triedOpen ||= !candidate.circuit.trusted;
    const served = this.#suspects === null ? null : (by: Candidate) => this.#servedBy(by);
    const selection = new CountedSelection(candidate, waitMs, served, this.#dependencies.clock, nowMs);
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

/** Full jitter up to a ceiling that quadruples with each retry. `unit` is in [0, 1). */
function backoffMs(retry: number, unit: number): number {
  const ceilingMs = Math.min(bounds.backoffMsMax, bounds.backoffMsMin * 4 ** (retry + 1));
  return bounds.backoffMsMin + unit * (ceilingMs - bounds.backoffMsMin);
}

type Stop = Extract<StepRemark["code"], `stop_${string}`>;
type Again = "try_next" | "try_larger" | "try_same" | "try_same_asked" | "try_unready";

function placeIn(attempt: number, { deployment }: Candidate) {
  return { attempt, deployment: deployment.id };
}
