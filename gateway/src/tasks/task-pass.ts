import {
  bounds,
  finalTaskStates,
  type LedgerEntry,
  type Task,
  type TaskState,
  type WebhookDelivery,
} from "#core/index.ts";
import type { TaskDependencies } from "./dependencies.ts";
import type { LeasedTask } from "./store/task-leases.ts";
import type { TaskStep } from "./store/task-rows.ts";

/** One pass over a task under a lease. Once the lease is lost, nothing is written. */
export class TaskPass {
  readonly dependencies: TaskDependencies;
  /** Aborts requests of this pass. */
  readonly signal: AbortSignal;
  #leased: LeasedTask;
  #task: Task;
  #isOver = false;

  constructor(dependencies: TaskDependencies, leased: LeasedTask, signal = new AbortController().signal) {
    this.dependencies = dependencies;
    this.signal = signal;
    this.#leased = leased;
    this.#task = leased.task;
  }

  get task(): Task {
    return this.#task;
  }

  /** The lease was released or lost. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Writes a step. Returns false if the lease was lost, which ends the pass. */
  step(step: TaskStep): Promise<boolean> {
    return this.#step(step, false);
  }

  /** Writes a last step and releases the lease. */
  async release(step: TaskStep): Promise<boolean> {
    const written = await this.#step(step, true);
    this.#isOver = true;
    return written;
  }

  /** Ends the task and the lease. */
  async finish(
    step: TaskStep & { readonly state: TaskState },
    entries: readonly LedgerEntry[],
    delivery: WebhookDelivery | null,
  ): Promise<boolean> {
    if (this.#isOver) return false;
    const now = this.dependencies.clock.now();
    const done = await this.dependencies.store.finish(this.#leased, step, entries, delivery, now);
    this.#isOver = true;
    if (done) this.#apply(step, now);
    return done;
  }

  /**
   * Leases the task again after the lease was lost, for the one pass that has sent something. `settled`: the task has ended
   * or has an upstream id, so there is nothing to add.
   */
  async leaseAgain(): Promise<"again" | "busy" | "settled"> {
    const again = await this.dependencies.store.leaseOne(
      this.#task.id,
      this.dependencies.clock.now(),
      bounds.taskLeaseMs,
    );
    if (again === null) {
      const stored = await this.dependencies.store.findById(this.#task.id);
      if (stored !== null) this.#task = stored;
      return stored === null || isSettled(stored) ? "settled" : "busy";
    }
    this.#leased = again;
    this.#task = again.task;
    this.#isOver = isSettled(again.task);
    if (this.#isOver) await this.dependencies.store.step(again, {}, this.dependencies.clock.now(), true);
    return this.#isOver ? "settled" : "again";
  }

  /**
   * Makes sure that no other task has the upstream id. It writes the id first and then checks for other owners, so that of
   * two tasks with the same request at most one keeps it. False: another task has the id, or the lease was lost.
   */
  async claim(upstreamId: string): Promise<boolean> {
    if (!(await this.step({ upstreamId }))) return false;
    const owners = await this.dependencies.store.withUpstreamIds([upstreamId]);
    const { id, account } = this.#task;
    if (!owners.some(({ taskId, providerId }) => taskId !== id && providerId === account?.providerId)) return true;
    await this.step({ upstreamId: null });
    return false;
  }

  async #step(step: TaskStep, release: boolean): Promise<boolean> {
    if (this.#isOver) return false;
    const now = this.dependencies.clock.now();
    const written = await this.dependencies.store.step(this.#leased, step, now, release);
    if (written) this.#apply(step, now);
    else this.#isOver = true;
    return written;
  }

  #apply({ detail: _, ...change }: TaskStep, now: number): void {
    this.#task = { ...this.#task, ...change, updatedAt: now };
  }
}

function isSettled({ state, upstreamId }: Task): boolean {
  return upstreamId !== null || finalTaskStates.has(state);
}
