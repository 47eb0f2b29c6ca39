import type { HeaderReader, Provider, TaskError, Usage, VideoCapabilities, VideoTurn } from "#core/index.ts";
import type { BadAnswer, OutboundDraft } from "./outbound-draft.ts";
import type { PaidMembers } from "./video/paid-members.ts";

export interface CreateInput {
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly turn: VideoTurn;
  /** Our id, sent as the client reference if the vendor has one, to find a task with a lost answer. */
  readonly taskId: string;
  /** null: the gateway has no public URL. */
  readonly callbackUrl: string | null;
}

/** A 2xx answer. */
export interface GoodAnswer {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: Uint8Array;
}

/** The result of a poll. `state` null: unknown status, the state does not change. */
export interface VideoState {
  readonly state: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired" | null;
  /** 0 to 100. */
  readonly progress: number | null;
  readonly videoUrl: string | null;
  readonly lastFrameUrl: string | null;
  /** Unix seconds; null: not reported. */
  readonly expiresAt: number | null;
  readonly error: TaskError | null;
  /** Billed usage: tokens as `output`, seconds as `videoSeconds`. null: not reported. */
  readonly usage: Usage | null;
  readonly rawUsage: string | null;
  /** Unix milliseconds; null: not reported. */
  readonly startedAt: number | null;
  /** A second request for the file's URL; its answer goes to `readNext`. */
  readonly next: OutboundDraft | null;
}

/** A task in a vendor's list. */
export interface ListedTask {
  readonly upstreamId: string;
  readonly taskId: string | null;
  readonly upstreamModel: string | null;
  readonly prompt: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number | null;
}

/** Still pictures of a video. */
export type VideoStill = "thumbnail" | "spritesheet";

/** A vendor's video API as data and pure functions. Drafts are authorized before they are sent. */
export interface VideoAdapter {
  capabilities(upstreamModel: string): VideoCapabilities;
  /** The vendor's own fields that raise the price; common ones are built in. */
  readonly paidMembers?: PaidMembers;
  /** Flags in a prompt that act like such fields; the group is the value. */
  readonly paidWords?: readonly { readonly pattern: RegExp; readonly instead: "duration" | "resolution" }[];
  /** Throws Failure unsupported_by_model if the vendor cannot do what is requested. */
  create(input: CreateInput): OutboundDraft;
  /**
   * Throws Failure, with its retry decided, for a refusal inside a 2xx (MiniMax, Kling); upstream_truncated if there is no
   * task id and no refusal, so a task may exist. `sent` is the request, for vendors with task URLs below its path (Kling).
   */
  readCreated(answer: GoodAnswer, sent?: OutboundDraft): { readonly upstreamId: string };
  poll(provider: Provider, upstreamModel: string, upstreamId: string): OutboundDraft;
  /** A well-formed task id that does not exist, if the vendor has its own form. */
  readonly noTask?: string;
  /** Throws Failure upstream_error for an invalid answer, which never ends a task. */
  readState(answer: GoodAnswer, provider: Provider): VideoState;
  /** Whether the answer to a poll, with any status, means that the task does not exist. */
  reportsGone?(answer: GoodAnswer): boolean;
  readNext?(answer: GoodAnswer, before: VideoState): VideoState;
  /** The end of a task in a bad answer to `next` (fal); null: not an end. */
  readNextRefusal?(answer: BadAnswer, before: VideoState): VideoState | null;
  /** null: the task cannot be canceled in this state. */
  cancel?(provider: Provider, upstreamModel: string, upstreamId: string): OutboundDraft | null;
  /** Deletes an ended task and its result. */
  remove?(provider: Provider, upstreamModel: string, upstreamId: string): OutboundDraft;
  /** Lists tasks, to find one with a lost answer. */
  list?(provider: Provider): OutboundDraft;
  readList?(answer: GoodAnswer): readonly ListedTask[];
  /** `create` supports `turn.remixOf`. */
  readonly remixes?: true;
  still?(provider: Provider, url: string, still: VideoStill): OutboundDraft;
  /** For results that need the account's credential (Sora, Veo). Absent: the URL is public. */
  content?(provider: Provider, url: string): OutboundDraft;
  /** The task that a callback names. */
  readCallback?(body: Uint8Array): { readonly upstreamId: string } | null;
  /** Seconds that results are kept, if answers do not report it. */
  readonly keepsSeconds?: number;
  /** Default length in seconds, if answers do not report it. Default: 5. */
  readonly usualSeconds?: number;
  /** A first frame may be `file:<id>`, a file of the account. */
  readonly takesFiles?: true;
  /** Material must be `data:` URIs (Veo). Absent: URLs are accepted, too. */
  readonly materialAs?: "data";
}
