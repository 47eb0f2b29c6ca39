import {
  asFailure,
  bounds,
  costAtMost,
  holdPrices,
  type Model,
  noWrites,
  type PolicyCall,
  policyCall,
  type ReachedLimit,
} from "#core/index.ts";
import { type Admission, Denial, type Estimate, type LimitRule, type Money, type Permit } from "#limits/index.ts";
import type { RecentCost, ReportStore } from "#ports/index.ts";
import type { PastEntry } from "#storage/in-thread.ts";
import { AttemptEnds } from "./attempt-ends.ts";
import { BoundLimits } from "./bound-limits.ts";
import { BoundPermit } from "./bound-permit.ts";
import type { Callers } from "./callers.ts";
import type { Holds } from "./holds.ts";
import { OpenCalls } from "./open-calls.ts";
import { PastCall } from "./past-call.ts";
import { type Refusal, refusalOf } from "./refusal.ts";
import type { ReplayClock } from "./replay-clock.ts";
import type { Repricing } from "./repricing.ts";
import { isSame, type Rerouting } from "./rerouting.ts";
import type { RehearsalTally } from "./tally.ts";

interface ReplayOptions {
  /** Only of callers with other limits for some calls. */
  readonly admission: Admission | null;
  readonly reports: Pick<ReportStore, "spending">;
  readonly clock: ReplayClock;
  readonly callers: Callers;
  readonly models: ReadonlyMap<string, Model>;
  readonly holds: Holds;
  readonly repricing: Repricing;
  readonly rerouting: Rerouting;
  readonly tally: RehearsalTally;
  /** By request: calls that guardrails of the change block. */
  readonly blocked: ReadonlyMap<string, Refusal>;
  /** Calls that began before are replayed, so that rates and running calls are right, but not counted. */
  readonly countFrom: number;
}

/**
 * Plays past calls again, under the changed configuration and on their own clock. Begins and ends of calls follow one another as they
 * did, so calls overlap as they did:
 *
 * read     entries arrive in the order in which their attempts began; attempts of one request are one call
 * begin    admission grants a permit, or the call is refused
 * end      the cost of the attempt counts for budgets; after the last attempt the permit is settled
 *
 * Time stays behind the entries, so that later attempts of the running calls have been read.
 */
export class Replay {
  readonly #options: ReplayOptions;
  readonly #bound: BoundLimits;
  /** Calls that have not begun, earliest first, and the index of the next one. */
  #waiting: PastCall[] = [];
  #next = 0;
  readonly #ends = new AttemptEnds();
  readonly #open = new OpenCalls();
  /** The same object for the same limit. */
  readonly #refusals = new WeakMap<ReachedLimit, Refusal>();

  constructor(options: ReplayOptions) {
    this.#options = options;
    const { clock, reports } = options;
    const money = {
      mostOf: (call: PastCall) => this.#holdOf(call),
      leastOf: (call: PastCall, most: number) => this.#leastOf(call, most),
      modelOf: (call: PastCall) => this.callOf(call).model,
    };
    this.#bound = new BoundLimits({ clock, reports, money });
  }

  /** The next entries, oldest first. Their keys must have been read. */
  async add(entries: readonly PastEntry[]): Promise<void> {
    for (const entry of entries) this.#read(entry);
    const last = entries.at(-1);
    if (last !== undefined) await this.#playUntil(last.at - laterAttemptsMs);
  }

  /** There are no more entries. */
  async finish(): Promise<void> {
    await this.#playUntil(Number.POSITIVE_INFINITY);
  }

  #read(entry: PastEntry): void {
    const { callers, tally, countFrom } = this.#options;
    if (entry.wasRefused) {
      if (entry.at >= countFrom && limitCodes.has(entry.errorCode ?? "")) tally.unknown("refused_then", entry.calls);
      return;
    }
    const isBegin = entry.retryIndex === 0 && entry.calls > 0;
    const call = isBegin ? undefined : this.#open.find(entry);
    if (call === undefined) {
      const begun = new PastCall(entry, callers.of(entry), entry.at >= countFrom);
      if (entry.calls > 0) this.#open.add(begun);
      this.#waiting.push(begun);
    } else if (call.permit === undefined) {
      call.later ??= [];
      call.later.push(entry);
    } else this.#addAttempt(call, entry);
  }

  async #playUntil(untilMs: number): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const begin = this.#waiting[this.#next];
      const end = this.#ends.first;
      if (end !== undefined && (begin === undefined || end.at <= begin.first.at)) {
        if (end.at > untilMs) break;
        clock.moveTo(end.at);
        this.#ends.take();
        this.#end(end.call, end.entry);
      } else {
        if (begin === undefined || begin.first.at > untilMs) break;
        clock.moveTo(begin.first.at);
        this.#next++;
        const waiting = this.#begin(begin);
        if (waiting !== null) await waiting;
      }
    }
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
  }

  /** A promise only where admission has one: at the first use of a budget. */
  #begin(call: PastCall): Waiting {
    const { tally, rerouting, blocked } = this.#options;
    const { first, caller } = call;
    if (first.calls === 0) {
      this.#charge(call);
      return null;
    }
    tally.began(call);
    if (call.isCounted && caller.isDeleted) tally.unknown("keys_deleted");
    const blockedBy = blocked.size === 0 ? undefined : blocked.get(first.requestId);
    const routing = caller.deniedBy(first.requestedModel) ?? blockedBy ?? rerouting.of(call);
    if (routing !== "recorded" && "limit" in routing) {
      this.#refuse(call, routing);
      return null;
    }
    if (routing !== "recorded") call.route = routing;
    return this.#ask(call);
  }

  /** Money without a call, such as an adjustment. No limit refuses it. */
  #charge(call: PastCall): void {
    const { tally, repricing } = this.#options;
    const { cost } = repricing.of(call.first);
    this.#spend(call, call.first, cost);
    tally.cost(call, call.first, cost);
  }

  /** Counts money for budgets. */
  #spend(call: PastCall, entry: PastEntry, cost: number): void {
    const { admission } = this.#options;
    if (cost === 0) return;
    if (admission === null) this.#bound.spend(call.caller, entry.at, cost);
    else admission.settled(new PastCharge(call, entry, cost));
  }

  #ask(call: PastCall): Waiting {
    const { admission } = this.#options;
    if (admission === null) {
      const answer = this.#bound.admit(call);
      return answer instanceof Promise
        ? answer.then((answered) => this.#answered(call, answered))
        : this.#answered(call, answer);
    }
    const { principal } = call.caller;
    const decision = admission.tryAdmit(principal, new PastEstimate(this, call), call.first.requestId);
    return decision instanceof Promise
      ? decision.then((decided) => this.#decided(call, decided, admission))
      : this.#decided(call, decision, admission);
  }

  #answered(call: PastCall, answer: BoundPermit | LimitRule): Waiting {
    return answer instanceof BoundPermit ? this.#admit(call, answer) : this.#refusedBy(call, answer.reached);
  }

  #decided(call: PastCall, decision: Permit | Denial, admission: Admission): Waiting {
    if (decision instanceof Denial) return this.#refusedBy(call, decision.rule.reached);
    return this.#enter(call, decision, admission);
  }

  /** Holds money on the budget policies of the first attempt's model and provider. */
  #enter(call: PastCall, permit: Permit, admission: Admission): Waiting {
    const { principal } = call.caller;
    if (principal.policies === undefined) return this.#admit(call, permit);
    const refused = (thrown: unknown): Waiting => {
      const { reachedLimit: reached } = asFailure(thrown);
      if (reached === undefined) throw thrown;
      const next = this.#options.rerouting.beside(call, reached);
      if (next !== null) {
        call.route = next;
        return this.#enter(call, permit, admission);
      }
      permit.release();
      return this.#refusedBy(call, reached);
    };
    try {
      const place = { ...placeOf(call, call.first), tags: call.first.tags };
      const estimate = new PastEstimate(this, call, place.model);
      const waits = admission.enter(permit, principal, place, estimate);
      if (waits === undefined) return this.#admit(call, permit);
      return waits.then(() => this.#admit(call, permit), refused);
    } catch (thrown) {
      return refused(thrown);
    }
  }

  /** A used-up budget may name a model that serves the call instead. */
  #refusedBy(call: PastCall, reached: ReachedLimit): Waiting {
    const substitute =
      call.substitutes < bounds.budgetFallbacksMax ? this.#options.rerouting.substitute(call, reached) : null;
    if (substitute === null) {
      let refusal = this.#refusals.get(reached);
      if (refusal === undefined) {
        refusal = refusalOf(reached, call.caller.principal);
        this.#refusals.set(reached, refusal);
      }
      this.#refuse(call, refusal);
      return null;
    }
    call.substitutes++;
    call.substitute = substitute.model;
    call.route = isSame(substitute.model, substitute.deployment, call.first) ? null : substitute;
    return this.#ask(call);
  }

  #admit(call: PastCall, permit: NonNullable<PastCall["permit"]>): null {
    if (call.route !== null) this.#options.tally.moved(call, call.route);
    call.permit = permit;
    this.#addAttempts(call);
    return null;
  }

  #refuse(call: PastCall, refusal: Refusal): void {
    const { tally } = this.#options;
    call.permit = null;
    call.refusal = refusal;
    tally.refused(call, refusal);
    this.#addAttempts(call);
  }

  #addAttempts(call: PastCall): void {
    this.#addAttempt(call, call.first);
    if (call.later !== null) for (const entry of call.later) this.#addAttempt(call, entry);
  }

  /** Attempts of a refused call end too, so that later ones belong to it. */
  #addAttempt(call: PastCall, entry: PastEntry): void {
    call.running++;
    this.#ends.add(call, entry);
  }

  #end(call: PastCall, entry: PastEntry): void {
    const { tally, rerouting } = this.#options;
    const { permit } = call;
    call.running--;
    const lack = permit === null || call.route !== null ? null : rerouting.lacks(call, entry);
    if (lack !== null) {
      call.refusal ??= lack;
      tally.refused(call, lack);
    }
    call.tokens += lack === null ? entry.tokens : 0;
    if (permit === null || permit === undefined) tally.cost(call, entry, 0);
    else {
      const cost = lack === null ? this.#costOf(call, permit, entry) : 0;
      this.#spend(call, entry, cost);
      tally.cost(call, entry, cost);
      if (call.running === 0) permit.settle(call.tokens);
    }
    if (call.running === 0) this.#open.remove(call);
  }

  /** A stream ends early when its money is used up. That is judged at its end. */
  #costOf(call: PastCall, permit: NonNullable<PastCall["permit"]>, entry: PastEntry): number {
    const { tally, repricing } = this.#options;
    const { cost, by } = call.route === null ? repricing.of(entry) : repricing.routed(call.route, entry);
    if (by === "vendor" && call.isCounted) tally.unknown("vendor_costs");
    if (!entry.isPriced && entry.tokens > 0 && by === "record" && call.isCounted) tally.unknown("unpriced");
    if (!entry.isStream || cost <= permit.held) return cost;
    const missing = cost - permit.held;
    const got = permit.topUp(missing, missing);
    // A promise: a new period has to be read, so there is money.
    if (got === missing || got instanceof Promise) return cost;
    tally.streamEnded(call);
    if (call.isCounted) tally.unknown("streams_judged_at_end");
    return permit.held;
  }

  callOf(call: PastCall): PolicyCall {
    return policyCall(this.#options.rerouting.callable(call), call.first.tags);
  }

  /**
   * The reservation of the past call; its cost, if it reserved nothing because there was no budget. `model`: of an attempt, for its share
   * alone.
   */
  moneyOf(call: PastCall, model: string | null): Money {
    const { first } = call;
    const most = model === null ? this.#holdOf(call) : this.#options.holds.ofAttempt(first, model);
    return { most, least: this.#leastOf(call, most) };
  }

  /** What it needs to begin: a stream can be ended early. */
  #leastOf({ first }: PastCall, most: number): number {
    if (!first.isStream) return most;
    const price = this.#options.models.get(first.model)?.price ?? null;
    if (price === null) return most;
    const prices = holdPrices(price, first.inputEstimate, noWrites);
    const input = { text: first.inputEstimate, image: 0, audio: 0 };
    return Math.min(most, costAtMost(prices, { input, output: bounds.budgetOutputTokensMin }));
  }

  #holdOf({ first, isCounted, substitute }: PastCall): number {
    const { holds, tally } = this.#options;
    if (substitute !== null) {
      if (isCounted) tally.unknown("holds_estimated");
      return holds.ofAttempt(first, substitute.name);
    }
    const { nanoUsd, isEstimated } = holds.of(first);
    if (isCounted && isEstimated && nanoUsd > 0) tally.unknown("holds_estimated");
    return nanoUsd;
  }
}

class PastEstimate implements Estimate {
  readonly #replay: Replay;
  readonly #call: PastCall;
  readonly #model: string | null;
  readonly tokens: number;
  readonly isFree: boolean;

  constructor(replay: Replay, call: PastCall, model: string | null = null) {
    this.#replay = replay;
    this.#call = call;
    this.#model = model;
    this.tokens = call.first.tokens;
    this.isFree = call.first.isFree;
  }

  get call(): PolicyCall {
    return this.#replay.callOf(this.#call);
  }

  money(): Money {
    return this.#replay.moneyOf(this.#call, this.#model);
  }
}

/** The cost of an attempt. Most charges need no more than the ids of the caller. */
class PastCharge implements RecentCost {
  readonly #call: PastCall;
  readonly #entry: PastEntry;
  readonly attemptId: string;
  readonly at: number;
  readonly costNanoUsd: number;
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly personId?: string;

  constructor(call: PastCall, entry: PastEntry, costNanoUsd: number) {
    const { workspace, group, key, person } = call.caller.principal;
    this.#call = call;
    this.#entry = entry;
    this.attemptId = entry.attemptId;
    this.at = entry.at;
    this.costNanoUsd = costNanoUsd;
    this.workspaceId = workspace.id;
    this.groupId = group.id;
    this.keyId = key.id;
    if (person !== null) this.personId = person;
  }

  get model(): string {
    return placeOf(this.#call, this.#entry).model;
  }

  get provider(): string {
    return placeOf(this.#call, this.#entry).provider;
  }

  get tags(): PastEntry["tags"] {
    return this.#entry.tags;
  }
}

/** null: there is nothing to wait for. */
type Waiting = Promise<unknown> | null;

function placeOf({ route }: PastCall, entry: PastEntry) {
  return route === null
    ? { model: entry.model, provider: entry.provider }
    : { model: route.model.name, provider: route.deployment.provider.id };
}

/** A later attempt begins within this time after the end of the one before. */
const laterAttemptsMs = bounds.retryAfterMsMax + bounds.backoffMsMax + 3_000;

/** Refusals by limits and grants. */
const limitCodes: ReadonlySet<string> = new Set([
  "rate_limit_exceeded",
  "budget_exceeded",
  "budget_held",
  "model_not_found",
]);
