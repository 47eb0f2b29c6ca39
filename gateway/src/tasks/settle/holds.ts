import { BoundedMap, batchHoldOf, bounds, finalTaskStates, isResponseTask, type Task, tokensOf } from "#core/index.ts";
import type { HeldCall, Permit } from "#limits/index.ts";
import type { PrincipalOf, VideoTasksOptions } from "../options.ts";
import type { TaskStore } from "../store/task-store.ts";

/** Holds checked per sweep: of this process, and of a shared counter. */
const taskHoldsSweepMax = 100;
const taskHoldsSharedSweepMax = 20;
/** How long a shared counter without holds is not checked again. */
const taskHoldsRestMs = 30_000;
/** A background response comes from the journal, which may be behind. */
const responseHoldUnstoredMs = 3_600_000;

type HoldsOptions = Pick<VideoTasksOptions, "principalOf" | "clock"> & {
  readonly admission: Omit<VideoTasksOptions["admission"], "admit" | "check">;
};

/**
 * Money held for open tasks. A counter in this process holds it with permits here, restored at start. A shared counter
 * keeps a hold until the process that ends the task ends it by the task's id.
 */
export class Holds {
  readonly #options: HoldsOptions;
  #emptyUntilMs = Number.NEGATIVE_INFINITY;
  readonly #permits = new Map<string, Permit>();
  /** Holds without a stored task, and the monotonic time since when: the task may be about to be stored. */
  readonly #missing = new BoundedMap<string, number>(taskHoldsSweepMax * 100);

  constructor(options: HoldsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#permits.size;
  }

  get endWithProcess(): boolean {
    return !this.#options.admission.holdsLast;
  }

  /** Holds the money of an open task. Returns false if this process holds it already, or if the principal was deleted. */
  async ensure(task: Pick<Task, "id" | "reservedNanoUsd"> & HeldCall & Parameters<PrincipalOf>[0]): Promise<boolean> {
    if (this.#permits.has(task.id)) return false;
    const principal = await this.#options.principalOf(task);
    if (principal === null) return false;
    this.keep(task.id, await this.#options.admission.hold(principal, task.reservedNanoUsd, true, task.id, task));
    return true;
  }

  keep(taskId: string, permit: Permit): void {
    this.#emptyUntilMs = Number.NEGATIVE_INFINITY;
    if (this.endWithProcess) this.#permits.set(taskId, permit);
  }

  /** Call it after the end of the task is stored. If another process has the permit, that process ends it. */
  settle(task: Task): void {
    if (this.endWithProcess) this.#settle(task.id, tokensUsedBy(task));
    // The counter retries; if this process stops, another process ends the hold in its sweep.
    else ignoreErrors(this.#options.admission.endHold(task.id, costOf(task)));
  }

  /** Ends holds of tasks that another process ended or that were never stored. */
  async sweep(store: Pick<TaskStore, "findById">): Promise<void> {
    if (this.endWithProcess) await this.#sweepPermits(store);
    else await this.#sweepShared(store);
  }

  /** Checks the oldest permits and moves open tasks to the end. */
  async #sweepPermits(store: Pick<TaskStore, "findById">): Promise<void> {
    const oldest = [...this.#permits.keys()].slice(0, taskHoldsSweepMax);
    for (const taskId of oldest) {
      const task = await store.findById(taskId);
      const permit = this.#permits.get(taskId);
      if (permit === undefined) continue;
      // A response's task is stored some time after its hold.
      const isLate = task === null && isResponseTask(taskId) && !this.#isMissing(taskId);
      if (task === null && !isLate) this.#settle(taskId, 0);
      else if (task !== null && finalTaskStates.has(task.state)) {
        // Another process stored the entry; update the budgets here.
        this.#options.admission.settled(costOf(task));
        this.#settle(taskId, tokensUsedBy(task));
      } else {
        this.#permits.delete(taskId);
        this.#permits.set(taskId, permit);
      }
    }
  }

  /** The cost is in the ledger, so budgets are read from there. */
  async #sweepShared(store: Pick<TaskStore, "findById">): Promise<void> {
    const nowMs = this.#options.clock.monotonic();
    if (nowMs < this.#emptyUntilMs) return;
    const some = await this.#options.admission.someHolds(taskHoldsSharedSweepMax);
    if (some.length === 0) this.#emptyUntilMs = nowMs + taskHoldsRestMs;
    for (const { id: taskId, ageMs } of some) {
      if (batchHoldOf(taskId) !== null) continue;
      const unstoredMs = isResponseTask(taskId) ? responseHoldUnstoredMs : bounds.taskHoldUnstoredMs;
      const task = await store.findById(taskId);
      if (task === null ? ageMs < unstoredMs : !finalTaskStates.has(task.state)) continue;
      // Not awaited: the counter applies both in this order once it is available.
      if (task !== null) ignoreErrors(this.#options.admission.storedElsewhere([costOf(task)]));
      ignoreErrors(
        this.#options.admission.endHold(taskId, { ...(task === null ? noOwner : costOf(task)), costNanoUsd: 0 }),
      );
    }
  }

  /** Whether the task has been missing for so long that it will never be stored. */
  #isMissing(taskId: string): boolean {
    const nowMs = this.#options.clock.monotonic();
    const sinceMs = this.#missing.get(taskId) ?? nowMs;
    this.#missing.set(taskId, sinceMs);
    return nowMs - sinceMs >= responseHoldUnstoredMs;
  }

  #settle(taskId: string, tokens: number): void {
    const permit = this.#permits.get(taskId);
    if (permit === undefined) return;
    this.#permits.delete(taskId);
    permit.settle(tokens);
  }
}

function ignoreErrors(work: Promise<void>): void {
  work.catch(() => undefined);
}

const noOwner = { attemptId: "", at: 0, workspaceId: "", groupId: "", keyId: "" };

function costOf(task: Task) {
  const { attemptId, workspaceId, groupId, keyId, personId, createdAt, costNanoUsd, tags } = task;
  const owner = { workspaceId, groupId, keyId, ...(personId === undefined ? {} : { personId }) };
  const of = { model: task.servedModel ?? task.model, provider: task.account?.providerId ?? "", tags };
  return { attemptId, at: createdAt, ...owner, ...of, costNanoUsd: costNanoUsd ?? 0 };
}

function tokensUsedBy({ usage }: Task): number {
  return usage === null ? 0 : tokensOf(usage);
}
