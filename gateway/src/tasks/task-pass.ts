import { bounds, finalTaskStates, type LedgerEntry, type Task, type TaskState } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { Delivery, LeasedTask } from "./store/task-leases.ts";
import type { TaskStep } from "./store/task-rows.ts";
import type { TaskStore } from "./store/task-store.ts";

/** One pass over a task: its lease, and the task as this pass knows it. Once the lease is lost nothing is written. */
export class TaskPass {
  readonly #store: TaskStore;
  readonly #clock: Clock;
  #leased: LeasedTask;
  #task: Task;
  #over = false;

  constructor(outside: { readonly store: TaskStore; readonly clock: Clock }, leased: LeasedTask) {
    this.#store = outside.store;
    this.#clock = outside.clock;
    this.#leased = leased;
    this.#task = leased.task;
  }

  get task(): Task {
    return this.#task;
  }

  /** The lease was given back or lost. */
  get over(): boolean {
    return this.#over;
  }

  /** False: the lease was lost, and with it this pass is over. */
  step(step: TaskStep): Promise<boolean> {
    return this.#step(step, false);
  }

  /** A last step: the lease is given back with it. */
  async leave(step: TaskStep): Promise<boolean> {
    const written = await this.#step(step, true);
    this.#over = true;
    return written;
  }

  /** The last step of all. */
  async finish(
    step: TaskStep & { readonly state: TaskState },
    entries: readonly LedgerEntry[],
    delivery: Delivery | null,
  ): Promise<boolean> {
    if (this.#over) return false;
    const now = this.#clock.now();
    const done = await this.#store.finish(this.#leased, step, entries, delivery, now);
    this.#over = true;
    if (done) this.#apply(step, now);
    return done;
  }

  /**
   * Asks for a new lease after this one was lost (a process that was stopped for a while). Only for the one pass that has
   * sent something: what it knows is known to nobody else, and nobody else sends a task that somebody has begun to send.
   * `settled`: the task has ended, or has its id at the upstream, so there is nothing to add.
   */
  async insist(): Promise<"again" | "busy" | "settled"> {
    const again = await this.#store.leaseOne(this.#task.id, this.#clock.now(), bounds.taskLeaseMs);
    if (again === null) {
      const stored = await this.#store.findById(this.#task.id);
      if (stored !== null) this.#task = stored;
      return stored === null || hasEnd(stored) ? "settled" : "busy";
    }
    this.#leased = again;
    this.#task = again.task;
    this.#over = hasEnd(again.task);
    if (this.#over) await this.#store.step(again, {}, this.#clock.now(), true);
    return this.#over ? "settled" : "again";
  }

  /**
   * Two tasks that ask for the same are told apart by nothing but who has which id at the upstream. So the id is written
   * first, under the lease, and then it is asked whether another task has it too: whoever sees another lets go of it, so
   * that one of them keeps it at most. False: it is not this task's, or the lease was lost.
   */
  async claim(upstreamId: string): Promise<boolean> {
    if (!(await this.step({ upstreamId }))) return false;
    const owners = await this.#store.withUpstreamIds([upstreamId]);
    const { id, account } = this.#task;
    if (!owners.some(({ taskId, providerId }) => taskId !== id && providerId === account?.providerId)) return true;
    await this.step({ upstreamId: null });
    return false;
  }

  async #step(step: TaskStep, release: boolean): Promise<boolean> {
    if (this.#over) return false;
    const now = this.#clock.now();
    const written = await this.#store.step(this.#leased, step, now, release);
    if (written) this.#apply(step, now);
    else this.#over = true;
    return written;
  }

  #apply({ detail: _, ...change }: TaskStep, now: number): void {
    this.#task = { ...this.#task, ...change, updatedAt: now };
  }
}

function hasEnd({ state, upstreamId }: Task): boolean {
  return upstreamId !== null || finalTaskStates.has(state);
}
