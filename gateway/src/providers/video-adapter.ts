import type { HeaderReader, Provider, TaskError, Usage, VideoCapabilities, VideoTurn } from "#core/index.ts";
import type { BadAnswer, OutboundDraft } from "./outbound-draft.ts";
import type { PaidMembers } from "./video/paid-members.ts";

export interface CreateInput {
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly turn: VideoTurn;
  /** Ours; vendors that take a reference of the client's get it, so that a lost answer can be found again. */
  readonly taskId: string;
  /** Where the vendor may say that something happened; null when we have no public address. */
  readonly callbackUrl: string | null;
}

/** An upstream's good answer (2xx). */
export interface GoodAnswer {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: Uint8Array;
}

/** What a look at a task has shown. `state` null: a word we do not know, so the state stays what it was. */
export interface VideoState {
  readonly state: "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired" | null;
  /** 0 to 100. */
  readonly progress: number | null;
  readonly videoUrl: string | null;
  readonly lastFrameUrl: string | null;
  /** Unix seconds; null when the vendor does not say. */
  readonly expiresAt: number | null;
  readonly error: TaskError | null;
  /** What is paid for: tokens as `output`, seconds as `videoSeconds`. null: the vendor does not say. */
  readonly usage: Usage | null;
  readonly rawUsage: string | null;
  /** Unix milliseconds, as far as the vendor says. */
  readonly startedAt: number | null;
  /** A second look that is needed before it is whole (a file's address); its answer goes to `readNext`. */
  readonly next: OutboundDraft | null;
}

/** A task as a vendor's list shows it, to find one whose answer was lost. */
export interface ListedTask {
  readonly upstreamId: string;
  readonly taskId: string | null;
  readonly upstreamModel: string | null;
  readonly prompt: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number | null;
}

/** Pictures that some vendors make of a video. */
export type VideoStill = "thumbnail" | "spritesheet";

/** How one vendor makes videos, as data and pure functions. Drafts are authorised by the kind before they are sent. */
export interface VideoAdapter {
  capabilities(upstreamModel: string): VideoCapabilities;
  /** Members of this vendor's alone by which a video costs more; those that are common to many are known. */
  readonly paidMembers?: PaidMembers;
  /** Words of a prompt that the vendor obeys like such a member; its group is the value. */
  readonly paidWords?: readonly { readonly pattern: RegExp; readonly instead: "duration" | "resolution" }[];
  /** Throws Failure unsupported_by_model when the turn cannot be carried honestly. */
  create(input: CreateInput): OutboundDraft;
  /**
   * Throws Failure when a 2xx holds a refusal (MiniMax, Kling), with its retry decided; upstream_truncated when the
   * answer names no task and refuses none, so that nobody knows whether one was made. `sent` is the draft that was
   * answered, for vendors where a task stands below the path that made it (Kling).
   */
  readCreated(answer: GoodAnswer, sent?: OutboundDraft): { readonly upstreamId: string };
  poll(provider: Provider, upstreamModel: string, upstreamId: string): OutboundDraft;
  /** A name in the vendor's form that no task has, where that form is its own. */
  readonly noTask?: string;
  /** Throws Failure upstream_error for what is not an answer; that never ends a task. */
  readState(answer: GoodAnswer, provider: Provider): VideoState;
  /** An answer to a poll, good or bad, by which the vendor says that there is no such task. Absent: that is never said. */
  saysGone?(answer: GoodAnswer): boolean;
  readNext?(answer: GoodAnswer, before: VideoState): VideoState;
  /** A bad answer to `next` that is the task's own verdict (fal says there that a model failed); null: it is none. */
  readNextRefusal?(answer: BadAnswer, before: VideoState): VideoState | null;
  /** null: this vendor cannot cancel (in this state). */
  cancel?(provider: Provider, upstreamModel: string, upstreamId: string): OutboundDraft | null;
  /** Deletes a task that has ended, with what came of it. Absent: this vendor keeps it until it forgets. */
  remove?(provider: Provider, upstreamModel: string, upstreamId: string): OutboundDraft;
  /** Where a lost one may be found. */
  list?(provider: Provider, upstreamModel: string, sinceMs: number): OutboundDraft;
  readList?(answer: GoodAnswer): readonly ListedTask[];
  /** `create` understands `turn.remixOf`. */
  readonly remixes?: true;
  /** A picture of the video at `url`. Absent: there are none. */
  still?(provider: Provider, url: string, still: VideoStill): OutboundDraft;
  /** The bytes need the account's credential (Sora, Veo). Absent: the URL is public as long as it lives. */
  content?(provider: Provider, url: string): OutboundDraft;
  /** The task that a callback's body speaks of; it is only a hint. */
  readCallback?(body: Uint8Array): { readonly upstreamId: string } | null;
  /** How long the vendor keeps results, in seconds, where its answers do not say. */
  readonly keepsSeconds?: number;
  /** How long it makes a video when nobody says, where its answers do not tell either. Default 5. */
  readonly usualSeconds?: number;
  /** Material must come as `data:` URIs: this vendor fetches no addresses (Veo). Absent: both forms are taken. */
  readonly materialAs?: "data";
  /** Which asset platform its `asset://` references belong to; absent: it takes none. */
  readonly platform?: "volcengine" | "byteplus";
}
