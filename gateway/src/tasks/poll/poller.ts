import { bounds, LastingFault, within } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import type { LeasedTask } from "../store/task-leases.ts";
import type { TaskStore } from "../store/task-store.ts";
import { TaskPass } from "../task-pass.ts";
import { advance } from "./advance.ts";

/** Longest time between checks for due tasks, and the most concurrent polls. */
export const taskIdleMs = 5_000;
const taskPollsInFlightMax = 32;
/** Slots of accounts without polls for so long are deleted. */
const taskPollsExpiryMs = 24 * 3_600_000;
/** Interval of the count of open responses, for metrics. */
const backgroundCountMs = 60_000;
/** Interval of checks of holds. */
const taskHoldsSweepMs = 5_000;

/**
 * Leases due tasks and advances each by one step, sends webhooks, and checks tasks that other processes ended. Any number
 * of pollers may share one store.
 *
 * - idle: the next tick is at the next due time, or after taskIdleMs to find tasks of other processes.
 * - woken: a task changed here, so the next tick is at most taskTickMs away.
 * - busy: there is a tick every taskTickMs.
 * - full: the next tick follows as soon as half of the slots are free.
 */
export class Poller {
  readonly #dependencies: TaskDependencies;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #started = false;
  #sweeping: Promise<void> = Promise.resolve();
  #ticking = false;
  #hasMore = false;
  /** A task changed after this tick read the due times. */
  #wokenDuringTick = false;
  #restMs = 0;
  #restedFromMs = 0;
  #sweptMs = Number.NEGATIVE_INFINITY;
  #countedMs = Number.NEGATIVE_INFINITY;
  #responses: Awaited<ReturnType<TaskStore["openResponses"]>> = { count: 0, oldestAt: null };
  #readMs = 0;
  #foundLateMs = 0;
  #cancelTick: () => void = () => {};
  readonly #storeFault: LastingFault;

  constructor(dependencies: TaskDependencies) {
    this.#dependencies = dependencies;
    const { clock, observer } = dependencies;
    const fault = "failed to read the task store; retrying";
    const over = "the task store is readable again";
    this.#storeFault = new LastingFault({ clock, observer, level: "error", fault, over });
    dependencies.deliveries.onWake(() => this.#tickNow());
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** Delay between a task's due time and its poll: of the last round, or since then if that is longer. 0 while stopped. */
  get lateMs(): number {
    if (!this.#started) return 0;
    const sinceMs = this.#dependencies.clock.monotonic() - this.#readMs;
    return Math.max(this.#foundLateMs, sinceMs - Math.max(this.#restMs, bounds.taskTickMs), 0);
  }

  /** Open background responses of all processes at the last count; the age of the oldest in milliseconds. */
  get openResponses(): { readonly count: number; readonly oldestMs: number } {
    const { count, oldestAt } = this.#responses;
    return { count, oldestMs: oldestAt === null ? 0 : Math.max(0, this.#dependencies.clock.now() - oldestAt) };
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    const { store, clock } = this.#dependencies;
    this.#readMs = clock.monotonic();
    // If it fails, the next start deletes them.
    void store.deletePolls(clock.now() - taskPollsExpiryMs).catch(() => undefined);
    this.#schedule(0);
  }

  /** A task was created or changed here: read the due times within one tick. */
  wake(): void {
    this.#wokenDuringTick = true;
    if (!this.#started || this.#ticking || this.#restMs <= bounds.taskTickMs) return;
    const restedMs = this.#dependencies.clock.monotonic() - this.#restedFromMs;
    this.#schedule(bounds.taskTickMs - (restedMs % bounds.taskTickMs));
  }

  /** Stops leasing, aborts polls, and waits for submissions in progress. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#cancelTick();
    this.#stopping.abort();
    const ended = Promise.allSettled([...this.#running, this.#sweeping]);
    await within(this.#dependencies.clock, bounds.taskSubmitAttemptMs, ended, () => undefined);
  }

  /** Resolves to the number of leased tasks. */
  async round(): Promise<number> {
    const { store, clock, deliveries } = this.#dependencies;
    const room = taskPollsInFlightMax - this.#running.size;
    const now = clock.now();
    const leased = room <= 0 ? [] : await store.lease(now, bounds.taskLeaseMs, room);
    if (room > 0) this.#recordRead(now - (leased[0]?.task.dueAt ?? now));
    for (const one of leased) this.#run(one);
    this.#hasMore = room <= 0 || leased.length === room;
    await deliveries.pass();
    await this.#sweepAll();
    return leased.length;
  }

  #run(leased: LeasedTask): void {
    const running = this.#advance(leased).finally(() => {
      this.#running.delete(running);
      if (this.#hasMore && this.#running.size <= taskPollsInFlightMax / 2) this.#tickNow();
    });
    this.#running.add(running);
  }

  /** Errors that reach this point are our own or the store's. The lease then ends, and the task is retried. */
  async #advance(leased: LeasedTask): Promise<void> {
    try {
      await advance(new TaskPass(this.#dependencies, leased, this.#stopping.signal));
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return;
      const { id, kind = "video" } = leased.task;
      this.#dependencies.observer.log("error", "failed to advance a task; retrying when its lease ends", {
        task: id,
        kind,
        error: thrown,
      });
    }
  }

  async #sweepAll(): Promise<void> {
    const { clock, holds, store, materials } = this.#dependencies;
    const nowMs = clock.monotonic();
    if (nowMs - this.#countedMs >= backgroundCountMs) {
      this.#countedMs = nowMs;
      this.#responses = await store.openResponses();
    }
    if (nowMs - this.#sweptMs >= taskHoldsSweepMs) {
      this.#sweptMs = nowMs;
      await holds.sweep(store);
    }
    this.#sweeping = this.#sweeping.then(() => materials.sweep());
  }

  async #tick(): Promise<void> {
    if (this.#ticking) return;
    this.#ticking = true;
    this.#wokenDuringTick = false;
    let restMs: number = bounds.taskTickMs;
    try {
      // Reading the due time writes nothing and costs a third of a round.
      restMs = await this.#idleMs();
      if (restMs > 0) {
        this.#recordRead(0);
        await this.#sweepAll();
      } else {
        await this.round();
        restMs = Math.max(bounds.taskTickMs, await this.#idleMs());
      }
      this.#storeFault.succeeded();
    } catch (thrown) {
      this.#storeFault.failed({ error: thrown });
      restMs = bounds.taskTickMs;
    } finally {
      this.#ticking = false;
      if (this.#started) this.#schedule(this.#wokenDuringTick ? bounds.taskTickMs : restMs);
    }
  }

  /** Milliseconds to the next round, in whole ticks; 0 while anything is in progress or due. */
  async #idleMs(): Promise<number> {
    const { store, clock, deliveries } = this.#dependencies;
    if (this.#running.size > 0 || deliveries.inFlight > 0) return 0;
    const due = await store.nextDue(clock.now());
    const now = clock.now();
    const untilDueMs = due === null ? taskIdleMs : due - now;
    const ticks = Math.ceil(Math.max(0, untilDueMs / bounds.taskTickMs));
    return Math.min(ticks * bounds.taskTickMs, taskIdleMs);
  }

  #recordRead(lateMs: number): void {
    this.#readMs = this.#dependencies.clock.monotonic();
    this.#foundLateMs = lateMs;
  }

  #tickNow(): void {
    if (!this.#started || this.#ticking) return;
    this.#hasMore = false;
    this.#schedule(0);
  }

  #schedule(ms: number): void {
    this.#cancelTick();
    this.#restMs = ms;
    this.#restedFromMs = this.#dependencies.clock.monotonic();
    this.#cancelTick = this.#dependencies.clock.after(ms, () => void this.#tick());
  }
}
