import type { NanoUsd } from "./money.ts";
import type { PriceTable } from "./price.ts";
import type { Usage } from "./usage.ts";

/**
 * accepted    the row and its reservation exist; nothing was sent
 * submitting  one process, which holds the lease, is sending it
 * unknown     it was sent without an answer: it is never sent again, but searched at the vendor
 * queued, running  the upstream has it
 * The others are final. A final task never changes its state.
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

/** The state shown to callers: steps before the upstream has it are queued. */
export function shownState(state: TaskState): "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired" {
  return state === "accepted" || state === "submitting" || state === "unknown" ? "queued" : state;
}

/** The states that are shown as this one. */
export function statesShownAs(shown: ReturnType<typeof shownState>): readonly TaskState[] {
  return shown === "queued" ? ["accepted", "submitting", "unknown", "queued"] : [shown];
}

/** The id in the form of OpenAI's clients: `video_…` for `vt_…`. */
export function videoIdOf(taskId: string): string {
  return taskId.replace(/^vt_/, "video_");
}

/** The inverse of `videoIdOf`; accepts both forms. */
export function taskIdOf(id: string): string {
  return id.replace(/^video_/, "vt_");
}

/** The result of a task. URLs are the vendor's; `expiresAt` is in Unix seconds, null if unknown. */
export interface TaskOutput {
  readonly videoUrl: string;
  readonly lastFrameUrl: string | null;
  readonly expiresAt: number | null;
  /** In our blob store, if it was copied. */
  readonly blobHash: string | null;
  readonly contentType: string | null;
}

export interface TaskError {
  readonly code: string;
  readonly message: string;
}

/** The account as it was when the task was sent, because the provider may change or be deleted. */
export interface TaskAccount {
  readonly providerId: string;
  readonly kind: string;
  readonly baseUrl: string;
  readonly secret: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly allowPrivateNetwork: boolean;
}

/** Id of the task for a background response. */
export function responseTaskId(attemptId: string): string {
  return attemptId.replace(/^att_/, "bg_");
}

export function isResponseTask(taskId: string): boolean {
  return taskId.startsWith("bg_");
}

/** A video task, or a background response of an upstream. Times are Unix milliseconds. */
export interface Task {
  /** `vt_…`, `bg_…` */
  readonly id: string;
  /** Absent for a video. A response has no result and webhook here; `request` is its open ledger entry. */
  readonly kind?: "response";
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  /** As in the ledger. */
  readonly personId?: string;
  readonly actorId?: string;
  readonly requestId: string;
  /** The public model, and the deployment once it is chosen. */
  readonly model: string;
  readonly deployment: string;
  readonly upstreamModel: string;
  readonly account: TaskAccount | null;
  /** Id at the upstream; null until known. */
  readonly upstreamId: string | null;
  /** The attempt in the ledger, which is settled once, together with the final state. */
  readonly attemptId: string;
  readonly state: TaskState;
  /** 0 to 100; null if unknown. */
  readonly progress: number | null;
  /** The caller's body as JSON text, with unresolved assets. */
  readonly request: string;
  /** The normalized request, for answers. */
  readonly params: TaskRequest;
  readonly output: TaskOutput | null;
  readonly error: TaskError | null;
  readonly usage: Usage | null;
  readonly rawUsage: string | null;
  readonly costNanoUsd: NanoUsd | null;
  readonly reservedNanoUsd: NanoUsd;
  /** The fallback model that serves it, if any. */
  readonly servedModel?: string | null;
  /** The price version of the model when the task was accepted. */
  readonly priceVersion: string | null;
  readonly priceTable: PriceTable | null;
  readonly idempotencyKey: string | null;
  /** SHA-256 of the body. Another body with the same idempotency key is a conflict. */
  readonly requestDigest: string;
  readonly callbackUrl: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly userAgent: string;
  readonly tags: Readonly<Record<string, string>>;
  /** For its ledger entry; absent: none. */
  readonly warnings?: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly submittedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** The first answer of the upstream after this time ends the task as expired, unless it is final. */
  readonly deadlineAt: number;
  /** When it is processed next; null once final. */
  readonly dueAt: number | null;
  readonly polls: number;
  /** Its last slot among the polls of its account; valid for the next poll if it equals `dueAt`. */
  readonly placeAt?: number | null;
  /** Since when the vendor reports that the task does not exist. */
  readonly goneSince?: number | null;
  /** Since when the vendor has not answered after the deadline. */
  readonly unansweredSince?: number | null;
  /** Absent while it is visible. */
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
  /** The task whose video is remixed, `vt_…`. */
  readonly remixOf?: string;
}

/** A change of a task, for its history. */
export interface TaskEvent {
  readonly taskId: string;
  readonly at: number;
  readonly state: TaskState;
  readonly detail: string;
}

/** A webhook with its delivery history. */
export interface WebhookDelivery {
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
