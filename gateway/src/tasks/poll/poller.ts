import { bounds, LastingFault, within } from "#core/index.ts";
import type { TaskDependencies } from "../dependencies.ts";
import type { LeasedTask } from "../store/task-leases.ts";
import type { TaskStore } from "../store/task-store.ts";
import { TaskPass } from "../task-pass.ts";
import { advance } from "./advance.ts";

/** How often due tasks are read when none is due, and how many are polled at once. */
export const taskIdleMs = 5_000;
const taskPollsInFlightMax = 32;
/** Accounts that nobody polls are forgotten. */
const taskPollsKeptMs = 24 * 3_600_000;
/** How often responses that have not ended are counted, for metrics. */
const backgroundCountMs = 60_000;
/** How often the store is asked for tasks whose holds this process keeps. */
const taskHoldsSweepMs = 5_000;

/**
 * The heart-beat of this module: leases tasks that are due and takes each one step further, so many at once; sends messages
 * to callers; asks what became of tasks that other processes ended. Any number of pollers may share one store. When nothing is under
 * way it rests until the store says that something is due; what other processes make is met by asking now and then.
 */
export class Poller {
  readonly #dependencies: TaskDependencies;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #started = false;
  #sweeping: Promise<void> = Promise.resolve();
  #ticking = false;
  #hungry = false;
  /** Something was done since the round began whose due time it may not have seen. */
  #stirred = false;
  #restMs = 0;
  #restedFromMs = 0;
  #sweptMs = Number.NEGATIVE_INFINITY;
  #countedMs = Number.NEGATIVE_INFINITY;
  #responses: Awaited<ReturnType<TaskStore["openResponses"]>> = { count: 0, oldestAt: null };
  #readMs = 0;
  #foundLateMs = 0;
  #cancelTick: () => void = () => {};
  readonly #unread: LastingFault;

  constructor(dependencies: TaskDependencies) {
    this.#dependencies = dependencies;
    const { clock, observer } = dependencies;
    const fault = "The store of tasks cannot be read.";
    const over = "The store of tasks can be read again.";
    this.#unread = new LastingFault({ clock, observer, level: "error", fault, over });
    dependencies.deliveries.onWake(() => this.#soon());
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** How late what is due is looked at: the latest of the last round, or the time since then when that was longer. 0 while stopped. */
  get lateMs(): number {
    if (!this.#started) return 0;
    const sinceMs = this.#dependencies.clock.monotonic() - this.#readMs;
    return Math.max(this.#foundLateMs, sinceMs - Math.max(this.#restMs, bounds.taskTickMs), 0);
  }

  /** Background responses that have not ended, of all processes, as they were last counted; the age of the oldest in milliseconds. */
  get openResponses(): { readonly count: number; readonly oldestMs: number } {
    const { count, oldestAt } = this.#responses;
    return { count, oldestMs: oldestAt === null ? 0 : Math.max(0, this.#dependencies.clock.now() - oldestAt) };
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    const { store, clock } = this.#dependencies;
    this.#readMs = clock.monotonic();
    // Nobody depends on it: what is left over goes at the next start.
    void store.forgetPolls(clock.now() - taskPollsKeptMs).catch(() => undefined);
    this.#schedule(0);
  }

  /** A task was made or changed here: when it is due is asked a tick from now at the latest. */
  stir(): void {
    this.#stirred = true;
    if (!this.#started || this.#ticking || this.#restMs <= bounds.taskTickMs) return;
    const restedMs = this.#dependencies.clock.monotonic() - this.#restedFromMs;
    this.#schedule(bounds.taskTickMs - (restedMs % bounds.taskTickMs));
  }

  /** Leases nothing more; ends polls, whose tasks come due again; waits for what is being sent. */
  async stop(): Promise<void> {
    this.#started = false;
    this.#cancelTick();
    this.#stopping.abort();
    const ended = Promise.allSettled([...this.#running, this.#sweeping]);
    await within(this.#dependencies.clock, bounds.taskSubmitAttemptMs, ended, () => undefined);
  }

  /** One round. Resolves to how many tasks it took. */
  async round(): Promise<number> {
    const { store, clock, deliveries } = this.#dependencies;
    const room = taskPollsInFlightMax - this.#running.size;
    const now = clock.now();
    const leased = room <= 0 ? [] : await store.lease(now, bounds.taskLeaseMs, room);
    // The first was due soonest.
    if (room > 0) this.#read(now - (leased[0]?.task.dueAt ?? now));
    for (const one of leased) this.#run(one);
    this.#hungry = room <= 0 || leased.length === room;
    await deliveries.pass();
    await this.#sweepAll();
    return leased.length;
  }

  #run(leased: LeasedTask): void {
    const running = this.#advance(leased).finally(() => {
      this.#running.delete(running);
      if (this.#hungry && this.#running.size <= taskPollsInFlightMax / 2) this.#soon();
    });
    this.#running.add(running);
  }

  /** What goes wrong here is ours or the store's: the lease runs out, and somebody tries again. */
  async #advance(leased: LeasedTask): Promise<void> {
    try {
      await advance(this.#dependencies, new TaskPass(this.#dependencies, leased), this.#stopping.signal);
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return;
      const { id, kind = "video" } = leased.task;
      this.#dependencies.observer.log("error", "A task could not be taken further.", {
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
    // Files are waited for by nobody but the end.
    this.#sweeping = this.#sweeping.then(() => materials.sweep());
  }

  async #tick(): Promise<void> {
    if (this.#ticking) return;
    this.#ticking = true;
    this.#stirred = false;
    let restMs: number = bounds.taskTickMs;
    try {
      // Asking when something is due writes nothing and costs a third of a round.
      restMs = await this.#rest();
      if (restMs > 0) {
        this.#read(0);
        await this.#sweepAll();
      } else {
        await this.round();
        restMs = Math.max(bounds.taskTickMs, await this.#rest());
      }
      this.#unread.passed();
    } catch (thrown) {
      this.#unread.failed({ error: thrown });
      restMs = bounds.taskTickMs;
    } finally {
      this.#ticking = false;
      if (this.#started) this.#schedule(this.#stirred ? bounds.taskTickMs : restMs);
    }
  }

  /** Until the next round, in whole ticks: none while anything is under way, or due, else until something is. */
  async #rest(): Promise<number> {
    const { store, clock, deliveries } = this.#dependencies;
    if (this.#running.size > 0 || deliveries.inFlight > 0) return 0;
    const due = await store.nextDue(clock.now());
    const now = clock.now();
    const untilDueMs = due === null ? taskIdleMs : due - now;
    const ticks = Math.ceil(Math.max(0, untilDueMs / bounds.taskTickMs));
    return Math.min(ticks * bounds.taskTickMs, taskIdleMs);
  }

  #read(lateMs: number): void {
    this.#readMs = this.#dependencies.clock.monotonic();
    this.#foundLateMs = lateMs;
  }

  #soon(): void {
    if (!this.#started || this.#ticking) return;
    this.#hungry = false;
    this.#schedule(0);
  }

  #schedule(ms: number): void {
    this.#cancelTick();
    this.#restMs = ms;
    this.#restedFromMs = this.#dependencies.clock.monotonic();
    this.#cancelTick = this.#dependencies.clock.after(ms, () => void this.#tick());
  }
}
