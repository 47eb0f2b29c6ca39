import type { OutboundDraft, VideoState } from "#providers/index.ts";

/** One vendor as documented: the request for a full turn, and the meaning of its answers. */
export interface Vendor {
  readonly model: string;
  readonly seconds: number;
  readonly resolution: string;
  readonly createUrl: string;
  /** The whole body, or for a form the parts that must be in it. */
  readonly body: object | ((draft: OutboundDraft) => readonly string[]);
  /** The vendor's own fields that replace ours when the caller omits ours. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly created: unknown;
  createdAs(id: string): string;
  readonly upstreamId: string;
  readonly poll: string;
  readonly states: readonly (readonly [unknown, VideoState["state"]])[];
  withWord(word: string): unknown;
  /** The vendor reports no status but done or not. */
  readonly wordless?: true;
  /** The vendor uses a path as a task's name. */
  readonly named?: true;
  /** Valid answers that end nothing: a success without a video. */
  readonly halves: readonly unknown[];
  /** The vendor's 404 for a task; null if it is undocumented. */
  readonly gone: unknown;
}
