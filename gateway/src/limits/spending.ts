import { bounds, type LedgerEntry, type LimitScope, type NanoUsd } from "#core/index.ts";
import type { Clock, Counter, Observer, RecentCost, ReportStore, SpendingAsk } from "#ports/index.ts";
import type { CountedBudget } from "./budget.ts";
import { periodEnd, periodStart } from "./period.ts";

/** Where to read what was spent before it was counted. */
export interface SpendingSource {
  readonly reports: Pick<ReportStore, "spending">;
  /** Resolves when every entry that was settled before the call is where reports are read from, or at the signal. */
  settled(signal: AbortSignal): Promise<void>;
  readonly observer: Pick<Observer, "log">;
}

export interface SpendingOptions {
  readonly counter: Counter;
  readonly clock: Clock;
  /** null: there is no ledger, and nothing was spent before a budget was first met. */
  readonly source: SpendingSource | null;
}

/** What an entry of the ledger tells the budgets. */
export type Cost = Pick<LedgerEntry, "attemptId" | "at" | "workspaceId" | "groupId" | "keyId" | "costNanoUsd">;

/** Why a budget cannot be counted now: its ledger cannot be read, or the counter has no room. */
export type Unknown = "unread" | "full";

/**
 * Keeps the counter's budgets equal to the ledger. A budget is met with its first call: from that moment each entry of its
 * scope is counted, and what was spent before is read once. An entry of that moment may be in both, so the reading names the
 * latest entries it holds and they are told apart by their attempt. Readings that fail are tried again until they succeed.
 */
export class Spending {
  readonly #options: SpendingOptions;
  /** Budgets that the counter knows of, by the id of their scope. */
  readonly #counted = new Map<string, CountedBudget[]>();
  readonly #readings = new Map<string, Reading>();
  /** Keys are read by an index, the others with more pains: they do not wait for each other. */
  readonly #lanes = { key: new Lane(), wide: new Lane() };
  /** Attempts in a reading that no entry was told of yet (their settlement was stored before it was told). */
  readonly #readAlready = new Map<string, number>();
  #closed = false;

  constructor(options: SpendingOptions) {
    this.#options = options;
  }

  /** An entry was settled. Its cost belongs to the period in which its attempt began. */
  settled(cost: Cost): void {
    if (cost.costNanoUsd === 0 || this.#counted.size === 0) return;
    this.#count(cost.workspaceId, cost);
    this.#count(cost.groupId, cost);
    this.#count(cost.keyId, cost);
  }

  /**
   * Sees to it that these budgets are known: names those that cannot be now, which keeps nobody longer than
   * bounds.budgetReadWaitMs. Without a ledger to read it answers at once.
   */
  meet(budgets: readonly CountedBudget[]): ReadonlyMap<string, Unknown> | Promise<ReadonlyMap<string, Unknown>> {
    const { counter, source, clock } = this.#options;
    const unknown = new Map<string, Unknown>();
    const waits: Promise<void>[] = [];
    for (const budget of budgets) {
      const start = periodStart(budget.period, clock.now());
      const limitUsage = counter.begin(budget.key, start);
      if (limitUsage === "full") unknown.set(budget.key, "full");
      else this.#remember(budget);
      if (limitUsage !== "unknown") continue;
      if (source === null) counter.known(budget.key, start, { amount: 0, cleanFrom: start, again: false });
      else waits.push(this.#read(budget, start).then((known) => void (known || unknown.set(budget.key, "unread"))));
    }
    return waits.length === 0 ? unknown : Promise.all(waits).then(() => unknown);
  }

  /** No reading is tried again. */
  close(): void {
    this.#closed = true;
    for (const lane of Object.values(this.#lanes)) lane.stop();
    for (const reading of this.#readings.values()) reading.end(false);
    this.#readings.clear();
  }

  #count(scopeId: string, cost: Cost): void {
    const budgets = this.#counted.get(scopeId);
    if (budgets === undefined) return;
    for (const budget of budgets) {
      const start = periodStart(budget.period, cost.at);
      const name = nameOf(budget.key, start);
      if (this.#readAlready.size > 0 && this.#readAlready.delete(`${cost.attemptId} ${name}`)) continue;
      if (!this.#options.counter.spend(budget.key, start, cost.costNanoUsd)) this.#forget(scopeId, budget);
      else if (this.#readings.size > 0) this.#readings.get(name)?.counted.add(cost.attemptId);
    }
  }

  #remember(budget: CountedBudget): void {
    const known = this.#counted.get(budget.scope.id);
    if (known === undefined) this.#counted.set(budget.scope.id, [budget]);
    else if (!known.some(({ key }) => key === budget.key)) known.push(budget);
  }

  /** The counter has dropped it: it is met again with its next call. */
  #forget(scopeId: string, budget: CountedBudget): void {
    const left = this.#counted.get(scopeId)?.filter(({ key }) => key !== budget.key) ?? [];
    if (left.length === 0) this.#counted.delete(scopeId);
    else this.#counted.set(scopeId, left);
  }

  #read(budget: CountedBudget, start: number): Promise<boolean> {
    const { clock } = this.#options;
    const name = nameOf(budget.key, start);
    let reading = this.#readings.get(name);
    if (reading === undefined) {
      reading = new Reading(budget, start, clock.monotonic());
      this.#readings.set(name, reading);
      const lane = budget.scope.kind === "key" ? this.#lanes.key : this.#lanes.wide;
      lane.waiting.push(reading);
      if (!lane.running && !this.#closed) void this.#run(lane);
    }
    if (reading.failed || this.#closed) return Promise.resolve(false);
    const leftMs = reading.sinceMs + bounds.budgetReadWaitMs - clock.monotonic();
    if (leftMs <= 0) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stop = clock.after(leftMs, () => resolve(false));
    reading.waiters.push((known) => {
      stop();
      resolve(known);
    });
    return promise;
  }

  /** One batch after the other, until nothing waits. */
  async #run(lane: Lane): Promise<void> {
    const { clock, source } = this.#options;
    lane.running = true;
    let waitMs: number = bounds.budgetReadRetryMs;
    // Those that come in the same turn are asked for together.
    await Promise.resolve();
    while (lane.waiting.length > 0 && source !== null && !this.#closed) {
      const batch = lane.waiting.splice(0, lane === this.#lanes.key ? bounds.budgetReadBatchMax : 1);
      try {
        await this.#readBatch(batch, source);
        waitMs = bounds.budgetReadRetryMs;
      } catch (error) {
        if (this.#closed) break;
        for (const reading of batch) reading.fails();
        lane.waiting.push(...batch);
        source.observer.log("warn", "What budgets have spent cannot be read now; it is tried again.", {
          budgets: batch.length,
          error,
        });
        await lane.pause(clock, waitMs);
        waitMs = Math.min(waitMs * 2, bounds.budgetReadRetryMsMax);
      }
    }
    lane.running = false;
  }

  async #readBatch(batch: readonly Reading[], source: SpendingSource): Promise<void> {
    const { clock, counter } = this.#options;
    // All that was counted until now will be in the reading; what is counted from here on is told apart below.
    for (const { budget, start, counted } of batch) {
      counter.begin(budget.key, start, true);
      counted.clear();
    }
    const since = clock.now() - bounds.budgetReadSlackMs;
    const stop = new AbortController();
    const late = clock.after(bounds.budgetReadWaitMs, () => stop.abort());
    await source.settled(stop.signal).finally(late);
    if (stop.signal.aborted) throw new Error("The ledger is behind.");
    const { spent, recent } = await source.reports.spending(batch.map(askOf), since);
    if (recent.length > bounds.budgetReadEntriesMax) throw new Error("Too many calls end now to tell them apart.");
    if (clock.now() < since) throw new Error("The clock was set back meanwhile.");
    batch.forEach((reading, index) => {
      const { amount, later } = spent[index] ?? { amount: 0, later: 0 };
      const { budget, start } = reading;
      const twice = this.#countedTwice(reading, recent);
      const end = later > 0 ? null : endOf(reading);
      counter.known(budget.key, start, {
        amount: amount - twice,
        cleanFrom: end ?? Number.POSITIVE_INFINITY,
        again: true,
      });
      this.#readings.delete(nameOf(budget.key, start));
      reading.end(true);
    });
  }

  /** What stands in the reading and was counted here as well. What is in it and not yet told is noted, to be passed over. */
  #countedTwice({ budget, start, counted }: Reading, recent: readonly RecentCost[]): NanoUsd {
    let twice = 0;
    const name = nameOf(budget.key, start);
    for (const cost of recent) {
      if (idIn(cost, budget.scope.kind) !== budget.scope.id || periodStart(budget.period, cost.at) !== start) continue;
      if (counted.has(cost.attemptId)) twice += cost.costNanoUsd;
      else this.#expect(`${cost.attemptId} ${name}`);
    }
    return twice;
  }

  /** Only a settlement that was stored a moment before it is told of is ever met here; the rest is dropped soon. */
  #expect(name: string): void {
    const { clock } = this.#options;
    const nowMs = clock.monotonic();
    this.#readAlready.set(name, nowMs);
    for (const [oldest, atMs] of this.#readAlready) {
      if (nowMs - atMs < bounds.budgetReadSlackMs && this.#readAlready.size <= bounds.budgetReadEntriesMax) break;
      this.#readAlready.delete(oldest);
    }
  }
}

/** Readings that are made one after the other. */
class Lane {
  readonly waiting: Reading[] = [];
  running = false;
  #wake: () => void = () => {};

  pause(clock: Clock, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = clock.after(ms, resolve);
    this.#wake = () => {
      stop();
      resolve();
    };
    return promise;
  }

  stop(): void {
    this.#wake();
  }
}

/** One budget whose spending in one period is being read. */
class Reading {
  readonly budget: CountedBudget;
  readonly start: number;
  readonly sinceMs: number;
  /** Attempts whose cost was counted since the reading began. */
  readonly counted = new Set<string>();
  waiters: ((known: boolean) => void)[] = [];
  failed = false;

  constructor(budget: CountedBudget, start: number, sinceMs: number) {
    this.budget = budget;
    this.start = start;
    this.sinceMs = sinceMs;
  }

  fails(): void {
    this.failed = true;
    this.end(false);
  }

  end(known: boolean): void {
    const { waiters } = this;
    this.waiters = [];
    for (const tell of waiters) tell(known);
  }
}

function askOf(reading: Reading): SpendingAsk {
  const { kind, id } = reading.budget.scope;
  return { kind, id, from: reading.start, to: endOf(reading) };
}

/** null: it does not end. */
function endOf({ budget, start }: Reading): number | null {
  return periodEnd(budget.period, start);
}

function nameOf(key: string, start: number): string {
  return `${start} ${key}`;
}

function idIn(cost: RecentCost, kind: LimitScope["kind"]): string {
  return kind === "workspace" ? cost.workspaceId : kind === "group" ? cost.groupId : cost.keyId;
}
