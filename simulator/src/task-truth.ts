import { bounds } from "./bounds.ts";
import { isGone, isOver, type Task, type TaskView, viewTask } from "./task.ts";

/** One accepted task, as the vendor will bill it. Times are in Unix milliseconds. */
export interface TaskTruthRecord {
  readonly id: string;
  readonly dialect: string;
  /** A digest of the API key, or the name of its account. */
  readonly account: string;
  readonly model: string;
  /** The `x-attempt-id` header of the request that created it. */
  readonly attempt_id: string | null;
  /** The client's own name for it: a field of the vendor, or the `x-task-id` header. */
  readonly client_task_id: string | null;
  readonly body_sha256: string;
  /** How many tasks this account created with this body, this client id and this attempt id. Should be 1. */
  readonly creates_of_body: number;
  readonly creates_of_client_task: number;
  readonly creates_of_attempt: number;
  readonly created_at: number;
  /** The caller never received the answer. */
  readonly answer_lost: boolean;
  readonly polls: number;
  readonly polled_at: number | null;
  readonly downloads: number;
  readonly callbacks_sent: number;
  readonly callbacks_accepted: number;
  /** The actual state now, even if it was reported differently. */
  readonly state: string;
  readonly ended_at: number | null;
  readonly deleted_at: number | null;
  readonly vanished: boolean;
  /** The billed amount: 0 unless it succeeded, or was canceled while it ran at a vendor that bills that. */
  readonly tokens: number;
  readonly seconds: number;
}

export interface TaskTruthFilter {
  readonly account?: string | undefined;
  readonly model?: string | undefined;
  readonly attemptId?: string | undefined;
  readonly clientTaskId?: string | undefined;
  readonly limit?: number | undefined;
}

export interface TaskTruthState {
  /** Tasks accepted since the start or the last clear, even if they are no longer in memory. */
  readonly total: number;
  /** The tasks in memory that have not ended. */
  readonly open: number;
  readonly data: readonly TaskTruthRecord[];
}

export interface TaskTruth {
  /** Counts a task that was just accepted. */
  count(task: Task): void;
  /** The latest `limit` tasks, in order of arrival. */
  list(filter?: TaskTruthFilter): TaskTruthState;
  /** Clears the counts, but not the tasks. */
  clear(): void;
}

export function createTaskTruth(tasks: () => Iterable<Task>): TaskTruth {
  const creates = new Map<string, number>();
  let counted = new WeakSet<Task>();
  let total = 0;

  function add(key: string): void {
    creates.set(key, (creates.get(key) ?? 0) + 1);
    for (const oldest of creates.keys()) {
      if (creates.size <= bounds.taskCreatesMax) break;
      creates.delete(oldest);
    }
  }

  return {
    count(task) {
      total += 1;
      counted.add(task);
      for (const key of keysOf(task)) add(key);
    },
    list(filter = {}) {
      const now = Date.now();
      const stored = [...tasks()].filter((task) => counted.has(task));
      const open = stored.reduce((sum, task) => sum + (isOver(viewTask(task, now)) ? 0 : 1), 0);
      const limit = Math.min(filter.limit ?? bounds.taskListMax, bounds.taskListMax);
      const found = stored.filter((task) => matches(task, filter));
      const data = limit === 0 ? [] : found.slice(-limit).map((task) => recordOf(task, creates, now));
      return { total, open, data };
    },
    clear() {
      creates.clear();
      total = 0;
      counted = new WeakSet();
    },
  };
}

function keysOf(task: Task): readonly string[] {
  return [`body ${task.account} ${task.bodySha256}`, clientKey(task), attemptKey(task)].filter((key) => key !== "");
}

function clientKey({ clientId }: Task): string {
  return clientId === null ? "" : `client ${clientId}`;
}

function attemptKey({ attemptId }: Task): string {
  return attemptId === null ? "" : `attempt ${attemptId}`;
}

function matches(task: Task, filter: TaskTruthFilter): boolean {
  return (
    (filter.account === undefined || task.account === filter.account) &&
    (filter.model === undefined || task.model === filter.model) &&
    (filter.attemptId === undefined || task.attemptId === filter.attemptId) &&
    (filter.clientTaskId === undefined || task.clientId === filter.clientTaskId)
  );
}

function isBilled({ script }: Task, { state, startedAt }: TaskView): boolean {
  if (state === "succeeded") return true;
  return state === "cancelled" && startedAt !== null && script.bills_cancelled === true;
}

function recordOf(task: Task, creates: ReadonlyMap<string, number>, now: number): TaskTruthRecord {
  const view = viewTask(task, now);
  const countOf = (key: string): number => creates.get(key) ?? 1;
  return {
    id: task.id,
    dialect: task.dialect,
    account: task.account,
    model: task.model,
    attempt_id: task.attemptId,
    client_task_id: task.clientId,
    body_sha256: task.bodySha256,
    creates_of_body: countOf(`body ${task.account} ${task.bodySha256}`),
    creates_of_client_task: countOf(clientKey(task)),
    creates_of_attempt: countOf(attemptKey(task)),
    created_at: task.createdAt,
    answer_lost: task.script.answer_lost !== undefined,
    polls: task.polls,
    polled_at: task.polledAt,
    downloads: task.downloads,
    callbacks_sent: task.callbacksSent,
    callbacks_accepted: task.callbacksAccepted,
    state: view.state,
    ended_at: view.endedAt,
    deleted_at: task.removedAt,
    vanished: task.removedAt === null && isGone(task, now),
    tokens: isBilled(task, view) ? task.tokens : 0,
    seconds: task.seconds,
  };
}
