import { fileUrl, type LinkedFile } from "./file-url.ts";
import type { JsonObject } from "./json-body.ts";
import { emptyScript, type Script, type TaskEnd } from "./script.ts";

/** An accepted task. Its state is computed from its age when it is requested; nothing runs in between. */
export interface Task {
  readonly id: string;
  readonly dialect: string;
  /** The owner; no other account finds the task. */
  readonly account: string;
  readonly model: string;
  readonly script: Script;
  /** Values that its dialect returns later. */
  readonly fields: JsonObject;
  readonly seconds: number;
  /** Tokens or another unit of the vendor, reported once the task has succeeded. */
  readonly tokens: number;
  /** The URL before the path of its files. */
  readonly base: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** The task expires after this many milliseconds. */
  readonly expiresMs: number;
  readonly attemptId: string | null;
  readonly clientId: string | null;
  readonly bodySha256: string;
  polls: number;
  polledAt: number | null;
  downloads: number;
  callbacksSent: number;
  callbacksAccepted: number;
  cancelledAt: number | null;
  removedAt: number | null;
}

export type TaskState = "queued" | "running" | TaskEnd;

export interface TaskView {
  readonly state: TaskState;
  /** 0 to 100. */
  readonly progress: number;
  /** When it last changed, started and ended; null if it has not yet, or never will. */
  readonly changedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export const defaultQueuedMs = 50;
export const defaultRunningMs = 150;

export function viewTask(task: Task, now: number): TaskView {
  const startsAt = task.createdAt + (task.script.queued_ms ?? defaultQueuedMs);
  const endsAt = startsAt + (task.script.running_ms ?? defaultRunningMs);
  const expiresAt = task.createdAt + task.expiresMs;
  const { cancelledAt } = task;
  const overAt = Math.min(cancelledAt ?? endsAt, expiresAt, endsAt);
  if (now >= overAt) {
    const state =
      overAt === cancelledAt ? "cancelled" : overAt < endsAt ? "expired" : (task.script.ends ?? "succeeded");
    const startedAt = startsAt < overAt ? startsAt : null;
    return { state, progress: state === "succeeded" ? 100 : 0, changedAt: overAt, startedAt, endedAt: overAt };
  }
  if (now < startsAt) {
    return { state: "queued", progress: 0, changedAt: task.createdAt, startedAt: null, endedAt: null };
  }
  const progress = Math.min(99, Math.floor(((now - startsAt) / (endsAt - startsAt)) * 100));
  return { state: "running", progress, changedAt: startsAt, startedAt: startsAt, endedAt: null };
}

export function isOver({ state }: TaskView): boolean {
  return state !== "queued" && state !== "running";
}

/** The vendor no longer has the task, or acts as if it had never existed. */
export function isGone(task: Task, now: number): boolean {
  if (task.removedAt !== null) return true;
  return task.script.vanish_ms !== undefined && now - task.createdAt >= task.script.vanish_ms;
}

/** The vendor's word for a state, unless the script replaces it for a running task. */
export function stateWord(task: Task, view: TaskView, words: Readonly<Record<TaskState, string>>): string {
  return view.state === "running" ? (task.script.odd_state ?? words.running) : words[view.state];
}

/** Why a task failed; `defaultCode` unless the script has another one. */
export function taskError(task: Task, defaultCode: string): { readonly code: string; readonly message: string } {
  const code = task.script.error_code ?? defaultCode;
  return { code, message: task.script.error_message ?? `The video could not be generated: ${code}.` };
}

/** Links are valid for a day after their task ends. */
export function linkExpiry(task: Task, view: TaskView): number {
  return (view.endedAt ?? task.createdAt) + (task.script.url_ms ?? 86_400_000);
}

export function videoUrl(task: Task, view: TaskView): string {
  return fileUrl(task.base, videoFile(task, linkExpiry(task, view)));
}

/** The last frame of a video. */
export function frameUrl(task: Task, view: TaskView): string {
  const file = { name: `${task.id}-last.png`, seconds: 0, bytes: 0, expiresAt: linkExpiry(task, view) };
  return fileUrl(task.base, file);
}

export function videoFile(task: Task, expiresAt: number): LinkedFile {
  return { name: `${task.id}.mp4`, seconds: task.seconds, bytes: task.script.video_bytes ?? 0, expiresAt };
}

/** The script for this poll: the first `poll_count` polls have their own. */
export function pollScript(task: Task): Script {
  const { poll, poll_count: count = Number.POSITIVE_INFINITY } = task.script;
  return poll !== undefined && task.polls <= count ? poll : emptyScript;
}

export function contentScript(task: Task): Script {
  const { content, content_count: count = Number.POSITIVE_INFINITY } = task.script;
  return content !== undefined && task.downloads <= count ? content : emptyScript;
}
