import {
  BoundedMap,
  batchHoldOf,
  bounds,
  type Deployment,
  finalTaskStates,
  isResponseTask,
  type Task,
  tokensOf,
} from "#core/index.ts";
import type { AttemptPlace, HeldCall, Permit } from "#limits/index.ts";
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
  async ensure(task: OpenTask & Parameters<PrincipalOf>[0]): Promise<boolean> {
    if (this.#permits.has(task.id)) return false;
    const { principalOf, admission } = this.#options;
    const principal = await principalOf(task);
    if (principal === null) return false;
    const { call, sent } = taskHold(task);
    const permit = await admission.hold(principal, task.reservedNanoUsd, true, task.id, call);
    this.keep(task.id, permit);
    const held = sent && (await admission.holdAt(principal, task.reservedNanoUsd, true, sent.id, sent.place));
    if (held !== null) permit.enterAttempt(held);
    return true;
  }

  /**
   * Holds the money of a video on the policies of the provider that it is about to be sent to. Rejects with budget_exceeded or
   * budget_held.
   */
  async enter(task: Task, { id, provider }: Pick<Deployment, "id" | "provider">, model: string): Promise<void> {
    const { principalOf, admission } = this.#options;
    const principal = await principalOf(task);
    if (principal?.policies === undefined) return;
    const place = { model, provider: provider.id, tags: task.tags };
    // An earlier pass that could not store its step may hold it already. A shared counter finds that by the id.
    if (this.endWithProcess) this.#permits.get(task.id)?.leaveAttempt();
    const held = await admission.holdAt(principal, task.reservedNanoUsd, false, sentHoldId(task.id, id), place);
    if (held === null || !this.endWithProcess) return;
    const permit = this.#permits.get(task.id);
    if (permit === undefined) this.#permits.set(task.id, held);
    else permit.enterAttempt(held);
  }

  /** Ends what `enter` holds: the deployment refused the video. */
  leave(taskId: string, deploymentId: string): void {
    if (this.endWithProcess) this.#permits.get(taskId)?.leaveAttempt();
    else this.#endShared(sentHoldId(taskId, deploymentId), noCost);
  }

  keep(taskId: string, permit: Permit): void {
    this.#emptyUntilMs = Number.NEGATIVE_INFINITY;
    if (this.endWithProcess) this.#permits.set(taskId, permit);
  }

  /** Call it after the end of the task is stored. If another process has the permit, that process ends it. */
  settle(task: Task): void {
    if (this.endWithProcess) this.#settle(task.id, tokensUsedBy(task));
    // The counter retries; if this process stops, another process ends the hold in its sweep.
    else {
      this.#endShared(task.id, costOf(task));
      if (task.kind !== "response" && task.deployment !== "")
        this.#endShared(sentHoldId(task.id, task.deployment), noCost);
    }
  }

  #endShared(holdId: string, cost: Parameters<HoldsOptions["admission"]["endHold"]>[1]): void {
    ignoreErrors(this.#options.admission.endHold(holdId, cost));
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
    for (const { id, ageMs } of some) {
      if (batchHoldOf(id) !== null) continue;
      const [taskId = "", deployment] = id.split(/:(.*)/s);
      const unstoredMs = isResponseTask(taskId) ? responseHoldUnstoredMs : bounds.taskHoldUnstoredMs;
      const task = await store.findById(taskId);
      const isElsewhere = deployment !== undefined && task?.deployment !== deployment;
      const mayEnd = task === null || isElsewhere ? ageMs >= unstoredMs : finalTaskStates.has(task.state);
      if (!mayEnd) continue;
      // Not awaited: the counter applies both in this order once it is available.
      if (task !== null && finalTaskStates.has(task.state))
        ignoreErrors(this.#options.admission.storedElsewhere([costOf(task)]));
      this.#endShared(id, { ...(task === null ? noCost : costOf(task)), costNanoUsd: 0 });
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

const noCost = { attemptId: "", at: 0, workspaceId: "", groupId: "", keyId: "", costNanoUsd: 0 };

type OpenTask = Pick<Task, "id" | "reservedNanoUsd" | "model" | "servedModel" | "tags" | "deployment"> & {
  readonly kind?: string;
  /** Absent: it was not sent. */
  readonly provider?: string | undefined;
};

/**
 * The money of a background response is held at its provider at once. A video is held before its provider is chosen: `sent` is its
 * second hold, on the policies of the provider that it was sent to.
 */
export function taskHold(task: OpenTask): {
  readonly call: HeldCall;
  readonly sent: { readonly id: string; readonly place: AttemptPlace } | null;
} {
  const { id, kind, model, servedModel, tags, deployment, provider } = task;
  if (kind === "response") return { call: { model, tags, provider }, sent: null };
  if (provider === undefined) return { call: { model, tags }, sent: null };
  const place = { model: servedModel ?? model, tags, provider };
  return { call: { model, tags }, sent: { id: sentHoldId(id, deployment), place } };
}

function sentHoldId(taskId: string, deploymentId: string): string {
  return `${taskId}:${deploymentId}`;
}

function costOf(task: Task) {
  const { attemptId, workspaceId, groupId, keyId, personId, createdAt, costNanoUsd, tags } = task;
  const owner = { workspaceId, groupId, keyId, ...(personId === undefined ? {} : { personId }) };
  const of = { model: task.servedModel ?? task.model, provider: task.account?.providerId ?? "", tags };
  return { attemptId, at: createdAt, ...owner, ...of, costNanoUsd: costNanoUsd ?? 0 };
}

function tokensUsedBy({ usage }: Task): number {
  return usage === null ? 0 : tokensOf(usage);
}
