import { fileUrl, type LinkedFile } from "./file-url.ts";
import type { JsonObject } from "./json-body.ts";
import { emptyScript, type Script, type TaskEnd } from "./script.ts";

/** A task that was accepted. Where it stands is computed from its age whenever somebody asks; nothing runs meanwhile. */
export interface Task {
  readonly id: string;
  readonly dialect: string;
  /** Whose it is: nobody else finds it. */
  readonly account: string;
  readonly model: string;
  readonly script: Script;
  /** What its dialect tells back. */
  readonly asked: JsonObject;
  readonly seconds: number;
  /** Tokens or another unit that its vendor counts; told once it has succeeded. */
  readonly tokens: number;
  /** What stands before the path of its files. */
  readonly base: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** After this many milliseconds it is expired. */
  readonly expiresMs: number;
  readonly attemptId: string | null;
  readonly clientId: string | null;
  readonly bodySha256: string;
  polls: number;
  polledAt: number | null;
  downloads: number;
  callbacksSent: number;
  callbacksTaken: number;
  cancelledAt: number | null;
  removedAt: number | null;
}

export type TaskState = "queued" | "running" | TaskEnd;

export interface TaskView {
  readonly state: TaskState;
  /** 0 to 100. */
  readonly progress: number;
  /** When it last changed, when it began to run and when it ended; null: not yet, or never. */
  readonly changedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export const queuedMsUsual = 50;
export const runningMsUsual = 150;

export function viewTask(task: Task, now: number): TaskView {
  const startsAt = task.createdAt + (task.script.queued_ms ?? queuedMsUsual);
  const endsAt = startsAt + (task.script.running_ms ?? runningMsUsual);
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

/** Nobody at the vendor knows it any more, or knows that it ever was. */
export function isGone(task: Task, now: number): boolean {
  if (task.removedAt !== null) return true;
  return task.script.vanish_ms !== undefined && now - task.createdAt >= task.script.vanish_ms;
}

/** The vendor's word for a state, unless the script has an odd one for a running task. */
export function stateWord(task: Task, view: TaskView, words: Readonly<Record<TaskState, string>>): string {
  return view.state === "running" ? (task.script.odd_state ?? words.running) : words[view.state];
}

/** Why a task failed. */
export function taskError(task: Task, usual: string): { readonly code: string; readonly message: string } {
  const code = task.script.error_code ?? usual;
  return { code, message: task.script.error_message ?? `The video could not be made: ${code}.` };
}

/** Links live for a day from the end of their task. */
export function linkExpiry(task: Task, view: TaskView): number {
  return (view.endedAt ?? task.createdAt) + (task.script.url_ms ?? 86_400_000);
}

export function videoUrl(task: Task, view: TaskView): string {
  return fileUrl(task.base, videoFile(task, linkExpiry(task, view)));
}

/** The last picture of a video. */
export function frameUrl(task: Task, view: TaskView): string {
  const file = { name: `${task.id}-last.png`, seconds: 0, bytes: 0, expiresAt: linkExpiry(task, view) };
  return fileUrl(task.base, file);
}

export function videoFile(task: Task, expiresAt: number): LinkedFile {
  return { name: `${task.id}.mp4`, seconds: task.seconds, bytes: task.script.video_bytes ?? 0, expiresAt };
}

/** The script of this look at a task: the first `poll_count` have their own. */
export function pollScript(task: Task): Script {
  const { poll, poll_count: count = Number.POSITIVE_INFINITY } = task.script;
  return poll !== undefined && task.polls <= count ? poll : emptyScript;
}

export function contentScript(task: Task): Script {
  const { content, content_count: count = Number.POSITIVE_INFINITY } = task.script;
  return content !== undefined && task.downloads <= count ? content : emptyScript;
}
