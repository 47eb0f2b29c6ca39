import {
  afterRunningFor,
  type BudgetPolicy,
  type BudgetWindow,
  bounds,
  bucketStart,
  coversCost,
  LastingFault,
  type PolicyCost,
  type PolicyCounter,
  periodEnd,
  personScopeId,
  policyScopeId,
  policyValue,
  rollingOf,
  type ScopeKind,
  sleep,
  tagOf,
  windowName,
  windowNamed,
  windowStart,
} from "#core/index.ts";
import type {
  AttemptCost,
  BudgetPeriodKey,
  Clock,
  Counter,
  Observer,
  RecentCost,
  ReportStore,
  SpendingQuery,
  SpendingStatus,
} from "#ports/index.ts";
import { type CountedBudget, counterPeriod } from "./budget.ts";
import { claimKey } from "./limit-rule.ts";
import { otherTagValues } from "./policy-counters.ts";

export interface SpendingSource {
  readonly reports: Pick<ReportStore, "spending">;
  /** Resolves when reports include every entry settled so far, or at the signal. */
  settled(signal: AbortSignal): Promise<void>;
  readonly observer: Pick<Observer, "log">;
}

export interface SpendingOptions {
  readonly counter: Counter;
  readonly clock: Clock;
  /** null: there is no ledger, and nothing was spent before a budget's first use. */
  readonly source: SpendingSource | null;
  readonly policies: () => readonly BudgetPolicy[];
  /** See `PolicyCounters`. */
  readonly counterValue: (policy: BudgetPolicy, cost: PolicyCost) => string | null | undefined;
}

export type Cost = RecentCost;

/** Why a budget cannot be counted now. */
export type Unknown = "unread" | "full" | "unreachable";

/**
 * Keeps the counter's budgets equal to the ledger. A budget is loaded with its first call: from that moment each entry of its scope is
 * counted, and what was spent before is read once. An entry of that moment may be in both, so a reading lists its latest entries, and
 * the counter matches them by their attempt. Readings that fail are retried until they succeed.
 */
export class Spending {
  readonly #options: SpendingOptions;
  /** Budgets that the counter has, by the id of their scope. */
  readonly #counted = new Map<string, CountedBudget[]>();
  /** Some of them are of people, and their ids take long to make. */
  #countsPeople = false;
  readonly #readings = new Map<string, Reading>();
  /** Readings of keys and people use an index. They do not wait for the others, which take longer; values of tags come from callers. */
  readonly #lanes = {
    key: { waiting: [], running: false } as Lane,
    wide: { waiting: [], running: false } as Lane,
    policy: { waiting: [], running: false } as Lane,
  };
  readonly #closing = new AbortController();
  readonly #unread: LastingFault;

  constructor(options: SpendingOptions) {
    this.#options = options;
    const { clock, source } = options;
    const observer = source?.observer ?? { log: () => undefined };
    const fault = "failed to read the spending of budgets; retrying";
    const over = "spending of budgets is readable again";
    this.#unread = new LastingFault({ clock, observer, level: "warn", fault, over });
  }

  /** An entry was settled. Its cost belongs to the period in which its attempt began. */
  settled(cost: Cost): void {
    if (cost.costNanoUsd === 0) return;
    this.#spendOnPolicies(cost);
    if (this.#counted.size === 0) return;
    this.#spend(cost.workspaceId, cost);
    this.#spend(cost.groupId, cost);
    this.#spend(cost.keyId, cost);
    if (this.#countsPeople && cost.personId !== undefined)
      this.#spend(personScopeId(cost.workspaceId, cost.personId), cost);
  }

  /** Other processes may count them. */
  #spendOnPolicies(cost: Cost): void {
    const { counterValue } = this.#options;
    const policies = this.#options.policies();
    if (policies.length === 0) return;
    const full = policyCost(cost);
    for (const policy of policies) {
      const value = counterValue(policy, full);
      if (value === undefined) continue;
      const own = policyValue(policy, full);
      const counted = this.#spendOnPolicy({ policy, value: own }, cost);
      if (value === own) continue;
      // This process does not count the value of the tag separately. Another one may.
      const orOther = (isCounted: boolean): unknown => isCounted || this.#spendOnPolicy({ policy, value }, cost);
      if (counted instanceof Promise) void counted.then(orOther);
      else orOther(counted);
    }
  }

  #spendOnPolicy(counter: PolicyCounter, cost: Cost): boolean | Promise<boolean> {
    const { budget } = counter.policy;
    const period = counterPeriod(budget, cost.at);
    const counted = this.#options.counter.spend(policyKey(counter), period, attemptCost(budget, cost));
    return counted instanceof Promise ? counted.catch(() => true) : counted;
  }

  #spend(scopeId: string, cost: Cost): void {
    const budgets = this.#counted.get(scopeId);
    if (budgets === undefined) return;
    for (const budget of budgets) {
      const { key, window } = budget;
      const counted = this.#options.counter.spend(key, counterPeriod(window, cost.at), attemptCost(window, cost));
      if (counted instanceof Promise) this.#forgetUncounted(counted, budget);
      else if (!counted) this.#forget(budget);
    }
  }

  #forgetUncounted(counted: Promise<boolean>, budget: CountedBudget): void {
    void counted.then((later) => later || this.#forget(budget));
  }

  /** The same for all possible budgets of an entry, including budgets that this process does not count. */
  async settledAnywhere(cost: Cost): Promise<void> {
    if (cost.costNanoUsd === 0) return;
    const counted = await this.#options.counter.shared?.budgetKeys(scopeNames([cost]));
    this.#spendOnPolicies(cost);
    for (const { key, window } of this.#budgetsOf([cost], counted ?? [])) {
      const spent = this.#options.counter.spend(key, counterPeriod(window, cost.at), attemptCost(window, cost));
      if (spent instanceof Promise) spent.catch(() => undefined);
    }
  }

  /** Budgets that such entries count for are read again. */
  async storedElsewhere(costs: readonly Cost[]): Promise<void> {
    const charged = costs.filter(({ costNanoUsd }) => costNanoUsd !== 0);
    if (charged.length === 0) return;
    const { shared } = this.#options.counter;
    if (shared === undefined) await this.#invalidate(charged, []);
    else await this.#invalidate(charged, await shared.budgetKeys(scopeNames(charged)));
  }

  #invalidate(costs: readonly Cost[], counted: readonly string[]): void | Promise<void> {
    const byScope = Map.groupBy(this.#budgetsOf(costs, counted), ({ key }) => scopeIn(key));
    const periods = new Map<string, BudgetPeriodKey>();
    for (const cost of costs) {
      for (const { key, window } of scopeNames([cost]).flatMap((scope) => byScope.get(scope) ?? [])) {
        const start = counterPeriod(window, cost.at);
        periods.set(periodName(key, start), { key, periodStart: start });
      }
      for (const { key, window } of this.#policiesOf(cost)) {
        const start = counterPeriod(window, cost.at);
        periods.set(periodName(key, start), { key, periodStart: start });
      }
    }
    return this.#options.counter.invalidateSpending([...periods.values()]);
  }

  /** The counters of policies that an entry of another process may count for. */
  #policiesOf(cost: Cost): readonly Pick<CountedBudget, "key" | "window">[] {
    const full = policyCost(cost);
    return this.#options.policies().flatMap((policy) => {
      if (!coversCost(policy, full)) return [];
      const values = [policyValue(policy, full), ...(tagOf(policy.splitBy) === null ? [] : [otherTagValues])];
      return values.map((value) => ({ key: policyKey({ policy, value }), window: policy.budget }));
    });
  }

  /** All budgets that these entries may count for. `counted`: keys that a shared counter knows. */
  #budgetsOf(costs: readonly Cost[], counted: readonly string[]): readonly Pick<CountedBudget, "key" | "window">[] {
    const scopes = new Set(scopeNames(costs));
    const here = [...this.#counted.values()].flat().map(({ key }) => key);
    const usual = [...scopes].flatMap((scope) => usualWindows.map((period) => `budget:${period}:${scope}`));
    const keys = new Set([...usual, ...here.filter((key) => scopes.has(scopeIn(key))), ...counted]);
    return [...keys].flatMap((key) => {
      const window = windowNamed(key.split(":")[1] ?? "");
      return window === null ? [] : [{ key, window }];
    });
  }

  /** Loads these budgets into the counter, within bounds.budgetReadWaitMs. Returns the others with the reason. */
  load(budgets: readonly CountedBudget[]): ReadonlyMap<string, Unknown> | Promise<ReadonlyMap<string, Unknown>> {
    const { counter, clock } = this.#options;
    const unknown = new Map<string, Unknown>();
    const waits: Promise<void>[] = [];
    for (const budget of budgets) {
      const start = counterPeriod(budget.window, clock.now());
      const status = counter.beginPeriod(budget.key, start);
      if (status === "known" || status === "unknown") this.counts(budget);
      if (status !== "known") waits.push(this.#load(budget, start, status, unknown));
    }
    return waits.length === 0 ? unknown : Promise.all(waits).then(() => unknown);
  }

  async #load(
    budget: CountedBudget,
    start: number,
    pending: SpendingStatus | Promise<SpendingStatus>,
    unknown: Map<string, Unknown>,
  ): Promise<void> {
    const status = await pending;
    if (status === "full" || status === "unreachable" || status === "behind") {
      unknown.set(budget.key, status === "behind" ? "unread" : status);
      return;
    }
    this.counts(budget);
    if (status === "known") return;
    const { counter, source } = this.#options;
    if (source === null) {
      await counter.setSpending(budget.key, start, { amount: 0, recent: [], cleanFrom: start, again: false });
    } else if (!(await this.#read(budget, start))) unknown.set(budget.key, "unread");
  }

  /** Stops all readings and retries. */
  close(): void {
    this.#closing.abort();
    for (const reading of this.#readings.values()) reading.end(false);
    this.#readings.clear();
  }

  /** From now on entries of its scope are counted; entries of policies always are. */
  counts(budget: CountedBudget): void {
    if (budget.scope.kind === "policy") return;
    const counted = this.#counted.get(budget.scope.id);
    if (counted === undefined) {
      if (budget.scope.kind === "person") this.#countsPeople = true;
      this.#counted.set(budget.scope.id, [budget]);
      return;
    }
    for (const { key } of counted) if (key === budget.key) return;
    counted.push(budget);
  }

  /** The counter has evicted it: its next call loads it again. */
  #forget({ key: evicted, scope: { id } }: CountedBudget): void {
    const left = this.#counted.get(id)?.filter(({ key }) => key !== evicted) ?? [];
    if (left.length === 0) this.#counted.delete(id);
    else this.#counted.set(id, left);
  }

  #read(budget: CountedBudget, start: number): Promise<boolean> {
    const { clock } = this.#options;
    const name = periodName(budget.key, start);
    let reading = this.#readings.get(name);
    if (reading === undefined) {
      reading = new Reading(budget, start, clock);
      this.#readings.set(name, reading);
      const { kind } = budget.scope;
      const lane = this.#lanes[kind === "policy" ? kind : kind === "key" || kind === "person" ? "key" : "wide"];
      lane.waiting.push(reading);
      if (!lane.running && !this.#closing.signal.aborted) void this.#run(lane);
    }
    return this.#closing.signal.aborted ? Promise.resolve(false) : reading.succeeded;
  }

  /** One batch after the other, until nothing waits. */
  async #run(lane: Lane): Promise<void> {
    const { clock, source } = this.#options;
    const { signal } = this.#closing;
    lane.running = true;
    let waitMs: number = bounds.budgetReadRetryMs;
    // Readings that are requested in the same turn form one batch.
    await Promise.resolve();
    while (lane.waiting.length > 0 && source !== null && !signal.aborted) {
      const batch = lane.waiting.splice(0, lane === this.#lanes.key ? bounds.budgetReadBatchMax : 1);
      try {
        await this.#readBatch(batch, source);
        this.#unread.succeeded();
        waitMs = bounds.budgetReadRetryMs;
      } catch (error) {
        if (signal.aborted) break;
        for (const reading of batch) reading.end(false);
        lane.waiting.push(...batch);
        this.#unread.failed({ budgets: batch.length, error });
        await sleep(clock, waitMs, signal);
        waitMs = Math.min(waitMs * 2, bounds.budgetReadRetryMsMax);
      }
    }
    lane.running = false;
  }

  async #readBatch(batch: readonly Reading[], source: SpendingSource): Promise<void> {
    const { clock, counter } = this.#options;
    const beganMs = clock.now();
    // The reading will include everything that was counted until now. Later costs are matched below.
    const statuses = await Promise.all(batch.map(({ budget, start }) => counter.beginPeriod(budget.key, start, true)));
    if (statuses.includes("unreachable")) throw new Error("The counter does not respond.");
    if (statuses.includes("behind")) throw new Error("The ledger of another process is behind.");
    const since = beganMs - bounds.budgetReadSlackMs - (counter.shared?.ledgerLagMs ?? 0);
    const stop = new AbortController();
    const late = afterRunningFor(clock, bounds.budgetReadWaitMs, () => stop.abort());
    await source.settled(stop.signal).finally(late);
    if (stop.signal.aborted) throw new Error("The ledger is behind.");
    const { spent, recent } = await source.reports.spending(
      batch.map(({ budget, start }) => spendingQuery(budget, start, beganMs)),
      since,
    );
    if (recent.length > bounds.budgetReadEntriesMax) throw new Error("Too many calls are ending now to match them.");
    if (clock.now() < since) throw new Error("The clock was set back meanwhile.");
    for (const [index, reading] of batch.entries()) {
      const { amount, later, buckets } = spent[index] ?? { amount: 0, later: 0 };
      const { budget, start } = reading;
      const end = later > 0 || start < 0 ? null : periodEnd(budget.window, start);
      await counter.setSpending(budget.key, start, {
        amount,
        ...(buckets === undefined ? {} : { buckets }),
        recent: costsOf(reading, recent, this.#options.counterValue),
        cleanFrom: end ?? Number.POSITIVE_INFINITY,
        again: true,
      });
      this.#readings.delete(periodName(budget.key, start));
      reading.end(true);
    }
  }
}

/** The members that policies depend on, without a copy of the whole entry. An entry that lacks one fits policies without it. */
function policyCost(cost: Cost): PolicyCost {
  const { workspaceId, groupId, keyId, personId, model = "", provider = "", tags = {} } = cost;
  return { workspaceId, groupId, keyId, personId, model, provider, tags };
}

function policyKey(counter: PolicyCounter): string {
  return claimKey(`budget:${windowName(counter.policy.budget)}`, "policy", policyScopeId(counter));
}

/** The cost of an entry, in its bucket if the window rolls. */
function attemptCost(window: BudgetWindow, { attemptId, at, costNanoUsd: amount }: RecentCost): AttemptCost {
  const rolling = rollingOf(window);
  return rolling === null ? { attemptId, amount } : { attemptId, amount, bucket: bucketStart(rolling, at) };
}

/** The scopes that entries count for, as in the keys of budgets. */
function scopeNames(costs: readonly Cost[]): readonly string[] {
  return [...new Set(costs.flatMap((cost) => scopesOfCall(cost).map(([kind, id]) => `${kind}:${id}`)))];
}

/** `workspace:ws_1` of `budget:day:workspace:ws_1`. */
function scopeIn(key: string): string {
  return key.slice(key.indexOf(":", "budget:".length) + 1);
}

/** The scopes that an entry or a call counts for. */
export function scopesOfCall(call: CallOwners): readonly (readonly [ScopeKind, string])[] {
  const { workspaceId, groupId, personId, keyId } = call;
  const wide = [
    ["workspace", workspaceId],
    ["group", groupId],
    ["key", keyId],
  ] as const;
  return personId === undefined ? wide : [...wide, ["person", personScopeId(workspaceId, personId)]];
}

type CallOwners = Pick<Cost, "workspaceId" | "groupId" | "personId" | "keyId">;

/** Windows of budgets that a dead process may have counted, in addition to windows that this one counts. */
const usualWindows = ["day", "week", "month", "total"] as const;

/** Readings that run one after the other. */
interface Lane {
  readonly waiting: Reading[];
  running: boolean;
}

/** A reading of the spending of one budget in one period. */
class Reading {
  readonly budget: CountedBudget;
  readonly start: number;
  /** False: it failed, or took too long. */
  readonly succeeded: Promise<boolean>;
  readonly end: (succeeded: boolean) => void;

  constructor(budget: CountedBudget, start: number, clock: Clock) {
    this.budget = budget;
    this.start = start;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stopWaiting = afterRunningFor(clock, bounds.budgetReadWaitMs, () => resolve(false));
    this.succeeded = promise;
    this.end = (succeeded) => {
      stopWaiting();
      resolve(succeeded);
    };
  }
}

export function spendingQuery({ scope, window }: CountedBudget, start: number, nowMs: number): SpendingQuery {
  const { kind, id, counter } = scope;
  const of = { kind, id, ...(counter === undefined ? {} : { counter }) };
  const rolling = rollingOf(window);
  if (rolling === null) return { ...of, from: start, to: periodEnd(window, start) };
  return { ...of, from: windowStart(window, nowMs), to: null, bucketMs: rolling.bucketMs };
}

function costsOf(
  { budget, start }: Reading,
  recent: readonly RecentCost[],
  counterValue: SpendingOptions["counterValue"],
): readonly AttemptCost[] {
  const { scope, window } = budget;
  const { counter } = scope;
  const counts = (cost: RecentCost): boolean =>
    counter === undefined
      ? scopesOfCall(cost).some(([kind, id]) => kind === scope.kind && id === scope.id)
      : counterValue(counter.policy, policyCost(cost)) === counter.value;
  return recent
    .filter((cost) => counts(cost) && counterPeriod(window, cost.at) === start)
    .map((cost) => attemptCost(window, cost));
}

function periodName(key: string, start: number): string {
  return `${start} ${key}`;
}
