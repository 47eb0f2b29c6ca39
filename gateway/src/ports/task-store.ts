import type { LedgerEntry, Task, TaskEvent, TaskState } from "#core/index.ts";
import type { BlobInfo } from "./blob-store.ts";

export interface TaskFilter {
  /** null: of every workspace; only for who may see them all. */
  readonly workspaceId: string | null;
  readonly keyId?: string;
  readonly model?: string;
  readonly states?: readonly TaskState[];
  /** Instead of the newest first. Of one workspace only. */
  readonly oldestFirst?: boolean;
}

/** Where a task stands among the others of its workspace. */
export type TaskPlace = Pick<Task, "id" | "createdAt">;

/** `next` is the cursor of the following page, null at the end. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly next: string | null;
}

/** A task that one pass may work on until `untilMs`. The token fences: a write with an old one is refused. */
export interface LeasedTask {
  readonly task: Task;
  readonly lease: string;
  readonly untilMs: number;
}

/** What may change in a step. `detail` goes into the task's history when the state changes. */
export type TaskStep = Partial<
  Pick<
    Task,
    | "state"
    | "progress"
    | "upstreamId"
    | "account"
    | "deployment"
    | "upstreamModel"
    | "output"
    | "error"
    | "usage"
    | "rawUsage"
    | "costNanoUsd"
    | "submittedAt"
    | "startedAt"
    | "finishedAt"
    | "dueAt"
    | "polls"
  >
> & { readonly detail?: string };

/** A message to the caller that is to be delivered, with its history. */
export interface Delivery {
  readonly id: string;
  readonly taskId: string;
  readonly workspaceId: string;
  readonly url: string;
  /** JSON text. */
  readonly body: string;
  readonly tries: number;
  readonly dueAt: number | null;
  readonly createdAt: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly deliveredAt: number | null;
}

/**
 * Tasks, durable. Any number of processes may use the same one. The account's secret is sealed in the row.
 * A final task never changes its state, whoever asks.
 */
export interface TaskStore {
  /**
   * Accepts a task, unless its workspace has one with the same idempotency key: then that one comes back, `created`
   * false. Its first event is written with it. With `material`, what was noted for it must still be noted: throws otherwise.
   */
  create(task: Task, material?: BlobInfo | null): Promise<{ readonly task: Task; readonly created: boolean }>;
  /** The task that a workspace has under an idempotency key. Also one that was deleted. */
  findByKey(workspaceId: string, idempotencyKey: string): Promise<Task | null>;
  /** Before a task's material is stored, so that it is found whatever happens then. */
  noteMaterial(taskId: string, material: BlobInfo, now: number): Promise<void>;
  material(taskId: string): Promise<BlobInfo | null>;
  /**
   * Material that is not needed any more, and is not given to any task from now on: of tasks that are not sent again, and
   * what was noted before `unownedBefore` for a task that there is not. Of one task where it is named.
   */
  spentMaterial(
    unownedBefore: number,
    limit: number,
    taskId?: string,
  ): Promise<readonly { readonly taskId: string; readonly hash: string }[]>;
  /** After its bytes were removed. */
  forgetMaterial(taskId: string): Promise<void>;
  find(workspaceId: string, id: string): Promise<Task | null>;
  /** For callbacks, which know no workspace. Also one that was deleted. */
  findById(id: string): Promise<Task | null>;
  /** Goes on behind a cursor, or behind a task. */
  page(filter: TaskFilter, cursor: string | TaskPlace | null, limit: number): Promise<TaskPage>;
  events(taskId: string): Promise<readonly TaskEvent[]>;
  /** Leases tasks that are due, oldest due first; a lease that ran out may be taken again. */
  lease(now: number, leaseMs: number, limit: number): Promise<readonly LeasedTask[]>;
  /** Leases this one whether due or not; null when somebody else has it or it is final. */
  leaseOne(id: string, now: number, leaseMs: number): Promise<LeasedTask | null>;
  /** Writes a step under the lease and keeps the lease unless `release`. False: the lease was lost, nothing was written. */
  step(leased: LeasedTask, step: TaskStep, now: number, release: boolean): Promise<boolean>;
  /**
   * Ends it: state, ledger entry, rollups and the caller's message in one transaction, under the lease. False: the lease was
   * lost or it was final already; nothing was written.
   */
  finish(
    leased: LeasedTask,
    step: TaskStep & { readonly state: TaskState },
    entry: LedgerEntry,
    delivery: Delivery | null,
    now: number,
  ): Promise<boolean>;
  /** Makes it due now: a hint from the vendor, or a caller that asks. Does nothing to a final one. */
  hurry(id: string, now: number): Promise<void>;
  /** After the result was copied to the blob store; also on a final task. False: there is no result of it any more. */
  attachBlob(id: string, blobHash: string, contentType: string | null): Promise<boolean>;
  /**
   * Deletes a task that has ended: what was asked for and what came of it are forgotten, and `find` and `page` do not give it.
   * Its idempotency key and its name at the upstream stay taken. Gives the copy of its result, which nobody else may use any
   * more; null: there is no such task, or it has not ended.
   */
  remove(workspaceId: string, id: string, now: number): Promise<{ readonly blobHash: string | null } | null>;
  /** Not final ones, for the reservations after a restart: what each holds. */
  open(): AsyncIterable<Pick<Task, "id" | "workspaceId" | "groupId" | "keyId" | "reservedNanoUsd">>;
  /**
   * Which tasks, of any workspace, already have one of these ids at an upstream; for one that is looked for in a vendor's
   * list.
   */
  withUpstreamIds(
    upstreamIds: readonly string[],
  ): Promise<readonly { readonly taskId: string; readonly upstreamId: string; readonly providerId: string | null }[]>;
  /** Messages that are due, leased: `dueAt` is when the lease ends. */
  dueDeliveries(now: number, leaseMs: number, limit: number): Promise<readonly Delivery[]>;
  /**
   * How a try went; `dueAt` null: delivered, or given up. A failure is written only while `leased` still holds: `dueAt` is
   * what `dueDeliveries` gave. A delivery is always written, once.
   */
  delivered(
    leased: Pick<Delivery, "id" | "dueAt">,
    result: Pick<Delivery, "tries" | "dueAt" | "lastStatus" | "lastError" | "deliveredAt">,
  ): Promise<void>;
  deliveries(taskId: string): Promise<readonly Delivery[]>;
}
