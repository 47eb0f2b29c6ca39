import { createAlarm } from "./alarm.ts";
import { bounds } from "./bounds.ts";
import { createCallbackPost, type PostCall } from "./callback-post.ts";
import { type JsonObject, shortenedObject } from "./json-body.ts";
import type { SimulatorRequest } from "./request.ts";
import type { Script } from "./script.ts";
import {
  isGone,
  isOver,
  pollScript,
  queuedMsUsual,
  runningMsUsual,
  type Task,
  type TaskState,
  viewTask,
} from "./task.ts";
import { createTaskTruth, type TaskTruth } from "./task-truth.ts";

/** Where all dialects leave and look up their tasks. Bounded, the oldest leave first. */
export interface TaskBook {
  accept(draft: TaskDraft): Task;
  /** Null for one of another account or dialect, one that vanished, and one that never was. */
  find(owner: TaskOwner, id: string): Task | null;
  /** Whether this dialect has made it, for anybody: tells apart vendors whose paths are the same. */
  knows(dialect: string, id: string): boolean;
  /** A look at a task, counted; gives the script that the look goes by. */
  look(task: Task): Script;
  /** The newest first. */
  list(owner: TaskOwner): readonly Task[];
  /** By its id alone, as links to its files name it. */
  byId(id: string): Task | null;
  /** Never the same again in this simulator; `length` letters and digits. */
  mark(length: number): string;
  /** The same as a number of sixteen digits. */
  number(): string;
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
  readonly asked: JsonObject;
  readonly seconds: number;
  readonly tokens: number;
  readonly expiresMs?: number;
  /** What the client calls it, where the vendor takes such a name. */
  readonly clientId?: string | null;
  readonly callback?: TaskCallback | null;
}

interface TaskCallback {
  readonly url: string;
  /** The states it is told of. */
  readonly states: readonly TaskState[];
  /** `at`: as it was then, in Unix milliseconds. */
  body(task: Task, at: number): unknown;
}

export interface TaskBookOptions {
  /** What stands before the path of files; nothing: the host that the request was sent to. */
  readonly filesUrl: string | null;
  readonly post: PostCall;
}

export function createTaskBook(options: TaskBookOptions): TaskBook {
  const tasks = new Map<string, Task>();
  const alarm = createAlarm();
  const post = createCallbackPost(options.post);
  const truth = createTaskTruth(() => tasks.values());
  // Ids of two simulators differ, and so do those of a simulator that was started again.
  let sequence = Math.floor(Math.random() * 1_000_000);

  function tell(task: Task, callback: TaskCallback, at: number): void {
    const body = JSON.stringify(callback.body(task, at));
    for (let copies = task.script.callbacks ?? 1; copies > 0; copies -= 1) {
      task.callbacksSent += 1;
      post.send(callback.url, body, (taken) => {
        if (taken) task.callbacksTaken += 1;
      });
    }
  }

  function schedule(task: Task, callback: TaskCallback): void {
    const startsAt = task.createdAt + (task.script.queued_ms ?? queuedMsUsual);
    const told = new Set<string>();
    for (const at of [startsAt, startsAt + (task.script.running_ms ?? runningMsUsual)]) {
      alarm.set(at, () => {
        if (isGone(task, Date.now()) || task.cancelledAt !== null) return;
        // An alarm that rings late tells of what was then: no change is left out, and none is told twice.
        const { state } = viewTask(task, at);
        if (!callback.states.includes(state) || told.has(state)) return;
        told.add(state);
        tell(task, callback, at);
      });
    }
  }

  // A step that shares no factor with 36 scatters the marks without ever meeting one twice.
  function scattered(space: number): number {
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
    knows: (dialect, id) => tasks.get(id)?.dialect === dialect,
    look(task) {
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
    mark: (length) =>
      scattered(36 ** Math.min(length, 8))
        .toString(36)
        .padStart(length, "0"),
    number: () => String(2_000_000_000_000_000 + scattered(1_000_000_000_000)),
    truth,
  };
}

/** Ends a task that has not ended. False: it was too late. */
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
    asked: shortenedObject(draft.asked),
    seconds: draft.seconds,
    tokens: draft.script.video_tokens ?? draft.tokens,
    base: filesUrl ?? `http://${request.headers["host"] ?? "simulator"}`,
    createdAt: Date.now(),
    expiresMs: draft.expiresMs ?? Number.POSITIVE_INFINITY,
    attemptId: nameOf(request.headers["x-attempt-id"]),
    clientId: nameOf(draft.clientId ?? request.headers["x-task-id"]),
    bodySha256: digestOf(request),
    polls: 0,
    polledAt: null,
    downloads: 0,
    callbacksSent: 0,
    callbacksTaken: 0,
    cancelledAt: null,
    removedAt: null,
  };
}

function nameOf(given: string | null | undefined): string | null {
  return given == null ? null : given.slice(0, bounds.clientNameMax);
}

/** Of what was sent, not of how: boundaries of multipart bodies differ every time. */
function digestOf({ body, upload }: SimulatorRequest): string {
  if (upload === undefined) return Bun.CryptoHasher.hash("sha256", body, "hex");
  const parts = upload.parts.map(({ name, sha256 }) => `${name}=${sha256}`).toSorted();
  return Bun.CryptoHasher.hash("sha256", parts.join("\n"), "hex");
}
