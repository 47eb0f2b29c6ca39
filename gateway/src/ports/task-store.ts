import type { LedgerEntry, Task, TaskEvent, TaskState } from "#core/index.ts";
import type { BlobInfo } from "./blob-store.ts";

export interface TaskFilter {
  /** null: every workspace; only for callers that may see all of them. */
  readonly workspaceId: string | null;
  readonly keyId?: string;
  readonly model?: string;
  readonly states?: readonly TaskState[];
  /** Only this person's, and those that are no one person's. */
  readonly seenPerson?: string;
  /** Oldest first instead of newest first. For one workspace only. */
  readonly oldestFirst?: boolean;
}

/** The position of a task in the list of its workspace. */
export type TaskPlace = Pick<Task, "id" | "createdAt">;

/** `next` is the cursor of the following page, null at the end. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly next: string | null;
}

/** A task that one pass may work on until `untilMs`. Writes check the token: a write with an old one is refused. */
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
    | "servedModel"
    | "priceVersion"
    | "priceTable"
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
    | "placeAt"
    | "goneSince"
    | "unansweredSince"
  >
> & { readonly detail?: string };

/** What a poll of an account asks for. Times in milliseconds. */
export interface PollAsk {
  /** A name for the account, the same in every process. */
  readonly account: string;
  readonly now: number;
  /** The least time between two polls of the account. */
  readonly stepMs: number;
  /** A poll within so long is waited for by whoever asks. */
  readonly nearMs: number;
  /** `new`: it comes behind all others. `placed`: the place that it was given has come. `spare`: it polls now or not at all. */
  readonly kind: "new" | "placed" | "spare";
}

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
 * Durable tasks: videos, and the background responses that `LedgerStore.insert` was given. Any number of processes may use the same store. The secret of the account is encrypted in the row.
 * A final task never changes its state.
 */
export interface TaskStore {
  /**
   * Stores a task and its first event. If the workspace has a task with the same idempotency key, that one is returned
   * instead, with `created` false. With `material`: throws when `noteMaterial` was not called for it, or it was given up.
   * A Failure that is `unsent` says that the task is certainly not stored; after any other it may be.
   */
  create(task: Task, material?: BlobInfo | null): Promise<{ readonly task: Task; readonly created: boolean }>;
  /** The task that a workspace has under an idempotency key. Also one that was deleted. */
  findByKey(workspaceId: string, idempotencyKey: string): Promise<Task | null>;
  /** To be called before the material of a task is stored, so that it can be found and removed after a crash. */
  noteMaterial(taskId: string, material: BlobInfo, now: number): Promise<void>;
  material(taskId: string): Promise<BlobInfo | null>;
  /**
   * Marks and returns material that is no longer needed; no task can get it from now on. That is the material of tasks that
   * will not be sent again, and material noted before `unownedBefore` without a task. `taskId`: of this task only.
   */
  spentMaterial(
    unownedBefore: number,
    limit: number,
    taskId?: string,
  ): Promise<readonly { readonly taskId: string; readonly hash: string }[]>;
  /** To be called after its bytes were removed. */
  forgetMaterial(taskId: string): Promise<void>;
  /** A video. */
  find(workspaceId: string, id: string): Promise<Task | null>;
  /** For callbacks, which do not name a workspace. Also finds a deleted task, and those of other kinds. */
  findById(id: string): Promise<Task | null>;
  /** The page of videos after a cursor, or after a task. */
  page(filter: TaskFilter, cursor: string | TaskPlace | null, limit: number): Promise<TaskPage>;
  events(taskId: string): Promise<readonly TaskEvent[]>;
  /** Leases the tasks that are due, the oldest due time first. A task whose lease has ended can be leased again. */
  lease(now: number, leaseMs: number, limit: number): Promise<readonly LeasedTask[]>;
  /** When the first task that nobody holds, or message to a caller, is due. null: none is. */
  nextDue(now: number): Promise<number | null>;
  /** Leases this task, even if it is not due. null: another pass has it, or it is final. */
  leaseOne(id: string, now: number, leaseMs: number): Promise<LeasedTask | null>;
  /** Writes a step if the lease is still valid; `release` ends the lease. False: it was lost, nothing was written. */
  step(leased: LeasedTask, step: TaskStep, now: number, release: boolean): Promise<boolean>;
  /**
   * Ends the task: state, ledger entries, rollups and the message to the caller, in one transaction. False: the lease was lost
   * or the task was final already; nothing was written.
   */
  finish(
    leased: LeasedTask,
    step: TaskStep & { readonly state: TaskState },
    entries: readonly LedgerEntry[],
    delivery: Delivery | null,
    now: number,
  ): Promise<boolean>;
  /**
   * Unix milliseconds at which this poll may be made: within `nearMs` the poll is to be made then, and nobody else polls within
   * a step of it. Later than that it is a place in the account's row, to come back to as `placed`. Null: no spare one is free.
   */
  takePoll(ask: PollAsk): Promise<number | null>;
  /** Forgets accounts that nobody has polled since. */
  forgetPolls(before: number): Promise<void>;
  /** Makes the task due now, after a hint from the vendor or a question of a caller. A final task does not change. */
  hurry(id: string, now: number): Promise<void>;
  /** Notes that the result was copied to the blob store; also for a final task. False: the task has no result any more. */
  attachBlob(id: string, blobHash: string, contentType: string | null): Promise<boolean>;
  /**
   * Deletes a task that has ended. Its request and its result are removed, and `find` and `page` no longer return it. Its
   * idempotency key and its upstream id stay taken. Returns the blob of its result, for removal. null: there is no such
   * task, or it has not ended.
   */
  remove(workspaceId: string, id: string, now: number): Promise<{ readonly blobHash: string | null } | null>;
  /** The tasks that are not final, and what each reserves. For rebuilding the reservations after a restart. */
  open(): AsyncIterable<Pick<Task, "id" | "workspaceId" | "groupId" | "keyId" | "personId" | "reservedNanoUsd">>;
  /** Background responses that have not ended, and when the oldest of them was made (Unix milliseconds; null: there is none). */
  openResponses(): Promise<{ readonly count: number; readonly oldestAt: number | null }>;
  /**
   * Which tasks, of any workspace, have one of these upstream ids. For matching a vendor's list with our tasks.
   */
  withUpstreamIds(
    upstreamIds: readonly string[],
  ): Promise<readonly { readonly taskId: string; readonly upstreamId: string; readonly providerId: string | null }[]>;
  /** Messages that are due, leased: `dueAt` is when the lease ends. */
  dueDeliveries(now: number, leaseMs: number, limit: number): Promise<readonly Delivery[]>;
  /**
   * Stores how a try went. `dueAt` null: delivered, or given up. A failure is written only while the lease is valid:
   * `leased.dueAt` is what `dueDeliveries` returned. A delivery is always written, once.
   */
  delivered(
    leased: Pick<Delivery, "id" | "dueAt">,
    result: Pick<Delivery, "tries" | "dueAt" | "lastStatus" | "lastError" | "deliveredAt">,
  ): Promise<void>;
  deliveries(taskId: string): Promise<readonly Delivery[]>;
}
