import type { NanoUsd } from "./money.ts";
import type { PriceTable } from "./price.ts";
import type { Usage } from "./usage.ts";

/**
 * accepted    the row and its reservation exist; nothing was sent
 * submitting  one pass is sending it; the pass holds the lease
 * unknown     it was sent and nobody knows whether it arrived: never sent again, looked for at the vendor
 * queued, running  the upstream has it
 * the rest    final; a final task never changes its state again
 */
export type TaskState =
  | "accepted"
  | "submitting"
  | "unknown"
  | "queued"
  | "running"
  | "succeeded"
  | "failed"
  | "cancelled"
  | "expired";

export const finalTaskStates: ReadonlySet<TaskState> = new Set(["succeeded", "failed", "cancelled", "expired"]);

/** What callers see of it: the steps before the upstream has it all look queued. */
export function shownState(state: TaskState): "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired" {
  return state === "accepted" || state === "submitting" || state === "unknown" ? "queued" : state;
}

/** The other way round: which states look so. */
export function statesShownAs(shown: ReturnType<typeof shownState>): readonly TaskState[] {
  return shown === "queued" ? ["accepted", "submitting", "unknown", "queued"] : [shown];
}

/** The same task by a name of the form that OpenAI's clients know, one to one: `video_…` for `vt_…`. */
export function videoIdOf(taskId: string): string {
  return taskId.replace(/^vt_/, "video_");
}

/** A task by our name for it, whichever of its two names was used. */
export function taskIdOf(id: string): string {
  return id.replace(/^video_/, "vt_");
}

/** What a task made. URLs are the vendor's own; `expiresAt` is Unix seconds, null when the vendor does not say. */
export interface TaskOutput {
  readonly videoUrl: string;
  readonly lastFrameUrl: string | null;
  readonly expiresAt: number | null;
  /** In our blob store, when it was copied there. */
  readonly blobHash: string | null;
  readonly contentType: string | null;
}

export interface TaskError {
  readonly code: string;
  readonly message: string;
}

/** The account that has the task, as it was when it was sent: the task outlives a changed or deleted provider. */
export interface TaskAccount {
  readonly providerId: string;
  readonly kind: string;
  readonly baseUrl: string;
  readonly secret: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly allowPrivateNetwork: boolean;
}

/** The task that follows a background response, by the attempt that began it. */
export function responseTaskId(attemptId: string): string {
  return attemptId.replace(/^att_/, "bg_");
}

export function isResponseTask(taskId: string): boolean {
  return taskId.startsWith("bg_");
}

/** One video task, or a response that its upstream makes in the background. Times are Unix milliseconds. */
export interface Task {
  /** `vt_…`, `bg_…` */
  readonly id: string;
  /** Absent: a video. Of a response nothing is asked, output and told to its caller here: `request` is its open ledger entry. */
  readonly kind?: "response";
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  /** Whose call it is, as in the ledger. */
  readonly personId?: string;
  readonly requestId: string;
  /** The public model and, once chosen, where it went. */
  readonly model: string;
  readonly deployment: string;
  readonly upstreamModel: string;
  readonly account: TaskAccount | null;
  /** What the upstream calls it; null until known. */
  readonly upstreamId: string | null;
  /** The attempt in the ledger: settled once, with the final state, in one transaction. */
  readonly attemptId: string;
  readonly state: TaskState;
  /** 0 to 100; null when the vendor does not say. */
  readonly progress: number | null;
  /** The caller's body, as JSON text, assets not yet resolved. */
  readonly request: string;
  /** What was asked for, normalised, for the answer. */
  readonly asked: TaskRequest;
  readonly output: TaskOutput | null;
  readonly error: TaskError | null;
  readonly usage: Usage | null;
  readonly rawUsage: string | null;
  readonly costNanoUsd: NanoUsd | null;
  readonly reservedNanoUsd: NanoUsd;
  /** The model whose deployment has it, where that is a fallback. Null or absent: the one asked for. */
  readonly servedModel?: string | null;
  /** Of the model that serves it, as it was when the task was accepted. */
  readonly priceVersion: string | null;
  readonly priceTable: PriceTable | null;
  readonly idempotencyKey: string | null;
  /** SHA-256 of the body: the same key with another body is a conflict. */
  readonly requestDigest: string;
  readonly callbackUrl: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly userAgent: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly submittedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** The first answer of the upstream after this ends it: it has expired, unless that answer says how it ended. */
  readonly deadlineAt: number;
  /** When it is to be looked at next; null once final. */
  readonly dueAt: number | null;
  readonly polls: number;
  /** The last place that it got among the polls of its account; it is of this poll where it is `dueAt`. Null or absent: none yet. */
  readonly placeAt?: number | null;
  /** Since when the vendor says that there is no such task. Null or absent: it does not. */
  readonly goneSince?: number | null;
  /** Since when, after its deadline, the vendor has not answered. Null or absent: it was not asked since. */
  readonly unansweredSince?: number | null;
  /** Absent while it is shown to anybody. */
  readonly deletedAt?: number;
}

export interface TaskRequest {
  readonly prompt: string | null;
  readonly ratio: string | null;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  readonly audio: boolean | null;
  readonly watermark: boolean | null;
  readonly seed: number | null;
  /** The task whose video is made anew with other words, `vt_…`. Absent: none. */
  readonly remixOf?: string;
}

/** One change of a task, kept for whoever asks what happened. */
export interface TaskEvent {
  readonly taskId: string;
  readonly at: number;
  readonly state: TaskState;
  readonly detail: string;
}
