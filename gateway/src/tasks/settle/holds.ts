import { BoundedMap, bounds, finalTaskStates, isResponseTask, type Task, tokensOf } from "#core/index.ts";
import type { Permit } from "#limits/index.ts";
import type { PrincipalOf, VideoTasksOptions } from "../options.ts";
import type { TaskStore } from "../store/task-store.ts";

/** Holds that are checked at once, and those of a shared counter, which every process checks. */
const taskHoldsSweepMax = 100;
const taskHoldsSharedSweepMax = 20;
/** A counter without holds is not asked for this long, unless something is held meanwhile. */
const taskHoldsRestMs = 30_000;
/** A background response comes out of a journal, which may be behind. */
const responseHoldUnstoredMs = 3_600_000;

type HoldsOptions = Pick<VideoTasksOptions, "principalOf" | "clock"> & {
  readonly admission: Omit<VideoTasksOptions["admission"], "admit" | "check">;
};

/**
 * Money set aside for tasks that are not final. With a counter of this process it is held by permits here. A shared counter
 * holds it for as long as the task lives, whatever becomes of processes, and whoever ends the task ends the hold by its id.
 */
export class Holds {
  readonly #options: HoldsOptions;
  /** A shared counter held nothing when it was asked last. */
  #nothingUntilMs = Number.NEGATIVE_INFINITY;
  readonly #permits = new Map<string, Permit>();
  /** Holds of tasks that are not stored, and since when by the monotonic clock: one may be about to be. */
  readonly #missing = new BoundedMap<string, number>(taskHoldsSweepMax * 100);

  constructor(options: HoldsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#permits.size;
  }

  /** Those of all open tasks are to be made anew at a start. */
  get endWithProcess(): boolean {
    return !this.#options.admission.holdsLast;
  }

  /** Sets the money of an open task aside where this process does not hold it already. False: nobody pays for it any more. */
  async ensure(task: Pick<Task, "id" | "reservedNanoUsd"> & Parameters<PrincipalOf>[0]): Promise<boolean> {
    if (this.#permits.has(task.id)) return false;
    const principal = await this.#options.principalOf(task);
    if (principal === null) return false;
    this.keep(task.id, await this.#options.admission.hold(principal, task.reservedNanoUsd, true, task.id));
    return true;
  }

  /** The task is stored, or will be. */
  keep(taskId: string, permit: Permit): void {
    this.#nothingUntilMs = Number.NEGATIVE_INFINITY;
    if (this.endWithProcess) this.#permits.set(taskId, permit);
  }

  /** After the task's end is stored. What a permit of another process holds stays with that process. */
  settle(task: Task): void {
    if (this.endWithProcess) this.#settle(task.id, tokensUsedBy(task));
    // Told until the counter takes it; and should this process die, the sweep of another finds it.
    else ignored(this.#options.admission.endHold(task.id, costOf(task)));
  }

  /** Asks what became of tasks that something is held for: whoever ended them may have died before it said so. */
  async sweep(store: Pick<TaskStore, "findById">): Promise<void> {
    if (this.endWithProcess) await this.#sweepPermits(store);
    else await this.#sweepLasting(store);
  }

  /**
   * The oldest permits here. Those of tasks that are not final go to the end of the row. Each pass asks for so few that a long
   * row costs no more than a short one.
   */
  async #sweepPermits(store: Pick<TaskStore, "findById">): Promise<void> {
    const oldest = [...this.#permits.keys()].slice(0, taskHoldsSweepMax);
    for (const taskId of oldest) {
      const task = await store.findById(taskId);
      const permit = this.#permits.get(taskId);
      if (permit === undefined) continue;
      // The task of a response comes out of the journal, a while after its hold.
      const isLate = task === null && isResponseTask(taskId) && !this.#isMissing(taskId);
      if (task === null && !isLate) this.#settle(taskId, 0);
      else if (task !== null && finalTaskStates.has(task.state)) {
        // Another process has stored its entry; the budgets here hear of it only now.
        this.#options.admission.settled(costOf(task));
        this.#settle(taskId, tokensUsedBy(task));
      } else {
        this.#permits.delete(taskId);
        this.#permits.set(taskId, permit);
      }
    }
  }

  /** A few of all, whoever made them. What a final task cost is in the ledger: its budgets are read anew. */
  async #sweepLasting(store: Pick<TaskStore, "findById">): Promise<void> {
    const nowMs = this.#options.clock.monotonic();
    if (nowMs < this.#nothingUntilMs) return;
    const some = await this.#options.admission.someHolds(taskHoldsSharedSweepMax);
    if (some.length === 0) this.#nothingUntilMs = nowMs + taskHoldsRestMs;
    for (const { id: taskId, ageMs } of some) {
      const unstoredMs = isResponseTask(taskId) ? responseHoldUnstoredMs : bounds.taskHoldUnstoredMs;
      const task = await store.findById(taskId);
      if (task === null ? ageMs < unstoredMs : !finalTaskStates.has(task.state)) continue;
      // Not waited for: they are told in this order, when the counter is there.
      if (task !== null) ignored(this.#options.admission.storedElsewhere([costOf(task)]));
      ignored(this.#options.admission.endHold(taskId, { ...(task === null ? nobody : costOf(task)), costNanoUsd: 0 }));
    }
  }

  /** Not stored for so long that it never will be. */
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

function ignored(work: Promise<void>): void {
  work.catch(() => undefined);
}

const nobody = { attemptId: "", at: 0, workspaceId: "", groupId: "", keyId: "" };

function costOf({ attemptId, workspaceId, groupId, keyId, personId, createdAt, costNanoUsd }: Task) {
  const place = { workspaceId, groupId, keyId, ...(personId === undefined ? {} : { personId }) };
  return { attemptId, at: createdAt, ...place, costNanoUsd: costNanoUsd ?? 0 };
}

/** What a final task has used. */
function tokensUsedBy({ usage }: Task): number {
  return usage === null ? 0 : tokensOf(usage);
}
