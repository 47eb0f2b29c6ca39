import { createAlarm } from "./alarm.ts";
import { bounds } from "./bounds.ts";
import { createCallbackPost, type PostCall } from "./callback-post.ts";
import { type JsonObject, shortenedObject } from "./json-body.ts";
import type { SimulatorRequest } from "./request.ts";
import type { Script } from "./script.ts";
import {
  defaultQueuedMs,
  defaultRunningMs,
  isGone,
  isOver,
  pollScript,
  type Task,
  type TaskState,
  viewTask,
} from "./task.ts";
import { createTaskTruth, type TaskTruth } from "./task-truth.ts";

/** Stores the tasks of all dialects. Bounded: the oldest are removed first. */
export interface TaskStore {
  accept(draft: TaskDraft): Task;
  /** Null for a task of another account or dialect, and for one that vanished or never existed. */
  find(owner: TaskOwner, id: string): Task | null;
  /** Whether this dialect created the task, for any account. Distinguishes vendors that share paths. */
  has(dialect: string, id: string): boolean;
  /** Counts a poll of the task and returns the script for it. */
  poll(task: Task): Script;
  /** Newest first. */
  list(owner: TaskOwner): readonly Task[];
  /** Finds a task by its id alone, which is what links to its files contain. */
  byId(id: string): Task | null;
  /** A code of `length` letters and digits that is unique in this simulator. */
  uniqueCode(length: number): string;
  /** A unique number of sixteen digits. */
  uniqueNumber(): string;
  readonly truth: TaskTruth;
}

export interface TaskOwner {
  readonly dialect: string;
  readonly account: string;
}

interface TaskDraft extends TaskOwner {
  readonly id: string;
  readonly model: string;
  readonly script: Script;
  readonly request: SimulatorRequest;
  readonly fields: JsonObject;
  readonly seconds: number;
  readonly tokens: number;
  readonly expiresMs?: number;
  /** The client's own name for it, if the vendor has a field for one. */
  readonly clientId?: string | null;
  readonly callback?: TaskCallback | null;
}

interface TaskCallback {
  readonly url: string;
  /** The states that are reported. */
  readonly states: readonly TaskState[];
  /** The body as of `at`, in Unix milliseconds. */
  body(task: Task, at: number): unknown;
}

export interface TaskStoreOptions {
  /** The URL before the path of files. Null: the host that the request was sent to. */
  readonly filesUrl: string | null;
  readonly post: PostCall;
}

export function createTaskStore(options: TaskStoreOptions): TaskStore {
  const tasks = new Map<string, Task>();
  const alarm = createAlarm();
  const post = createCallbackPost(options.post);
  const truth = createTaskTruth(() => tasks.values());
  // A random start makes ids differ between simulators, and after a restart.
  let sequence = Math.floor(Math.random() * 1_000_000);

  function sendCallback(task: Task, callback: TaskCallback, at: number): void {
    const body = JSON.stringify(callback.body(task, at));
    for (let copies = task.script.callbacks ?? 1; copies > 0; copies -= 1) {
      task.callbacksSent += 1;
      post.send(callback.url, body, (delivered) => {
        if (delivered) task.callbacksAccepted += 1;
      });
    }
  }

  function schedule(task: Task, callback: TaskCallback): void {
    const startsAt = task.createdAt + (task.script.queued_ms ?? defaultQueuedMs);
    const reported = new Set<string>();
    for (const at of [startsAt, startsAt + (task.script.running_ms ?? defaultRunningMs)]) {
      alarm.set(at, () => {
        if (isGone(task, Date.now()) || task.cancelledAt !== null) return;
        // A late alarm reports the state as of its own time, so that no change is skipped and none is reported twice.
        const { state } = viewTask(task, at);
        if (!callback.states.includes(state) || reported.has(state)) return;
        reported.add(state);
        sendCallback(task, callback, at);
      });
    }
  }

  // The factor shares no divisor with 36, so the codes look random but never repeat.
  function nextCode(space: number): number {
    sequence += 1;
    return (sequence * 7_368_787) % space;
  }

  return {
    accept(draft) {
      const task = taskOf(draft, options.filesUrl);
      tasks.set(task.id, task);
      truth.count(task);
      for (const oldest of tasks.keys()) {
        if (tasks.size <= bounds.tasksMax) break;
        tasks.delete(oldest);
      }
      const { callback } = draft;
      if (callback != null && callback.url.length <= bounds.urlMax) schedule(task, callback);
      return task;
    },
    find({ dialect, account }, id) {
      const task = tasks.get(id);
      if (task === undefined || task.dialect !== dialect || task.account !== account) return null;
      return isGone(task, Date.now()) ? null : task;
    },
    has: (dialect, id) => tasks.get(id)?.dialect === dialect,
    poll(task) {
      task.polls += 1;
      task.polledAt = Date.now();
      return pollScript(task);
    },
    list({ dialect, account }) {
      const now = Date.now();
      const found: Task[] = [];
      for (const task of tasks.values()) {
        if (task.dialect === dialect && task.account === account && !isGone(task, now)) found.push(task);
      }
      return found.reverse();
    },
    byId: (id) => tasks.get(id) ?? null,
    uniqueCode: (length) =>
      nextCode(36 ** Math.min(length, 8))
        .toString(36)
        .padStart(length, "0"),
    uniqueNumber: () => String(2_000_000_000_000_000 + nextCode(1_000_000_000_000)),
    truth,
  };
}

/** Cancels a task that has not ended. Returns false if it was too late. */
export function cancelTask(task: Task): boolean {
  const now = Date.now();
  if (isOver(viewTask(task, now))) return false;
  task.cancelledAt = now;
  return true;
}

export function removeTask(task: Task): void {
  task.removedAt = Date.now();
}

function taskOf(draft: TaskDraft, filesUrl: string | null): Task {
  const { request } = draft;
  return {
    id: draft.id,
    dialect: draft.dialect,
    account: draft.account,
    model: draft.model,
    script: draft.script,
    fields: shortenedObject(draft.fields),
    seconds: draft.seconds,
    tokens: draft.script.video_tokens ?? draft.tokens,
    base: filesUrl ?? `http://${request.headers["host"] ?? "simulator"}`,
    createdAt: Date.now(),
    expiresMs: draft.expiresMs ?? Number.POSITIVE_INFINITY,
    attemptId: shortName(request.headers["x-attempt-id"]),
    clientId: shortName(draft.clientId ?? request.headers["x-task-id"]),
    bodySha256: digestOf(request),
    polls: 0,
    polledAt: null,
    downloads: 0,
    callbacksSent: 0,
    callbacksAccepted: 0,
    cancelledAt: null,
    removedAt: null,
  };
}

function shortName(name: string | null | undefined): string | null {
  return name == null ? null : name.slice(0, bounds.clientNameMax);
}

/** Hashes the content without its encoding, because the boundaries of multipart bodies always differ. */
function digestOf({ body, upload }: SimulatorRequest): string {
  if (upload === undefined) return Bun.CryptoHasher.hash("sha256", body, "hex");
  const parts = upload.parts.map(({ name, sha256 }) => `${name}=${sha256}`).toSorted();
  return Bun.CryptoHasher.hash("sha256", parts.join("\n"), "hex");
}
