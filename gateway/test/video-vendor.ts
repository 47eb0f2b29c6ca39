import type { OutboundDraft, VideoState } from "#providers/index.ts";

/** One vendor as its reference describes it: what a full turn becomes, and what its answers mean. */
export interface Vendor {
  readonly model: string;
  readonly seconds: number;
  readonly resolution: string;
  readonly createUrl: string;
  /** The whole body, or (for a form) what must stand in it. */
  readonly body: object | ((draft: OutboundDraft) => readonly string[]);
  /** Members of the vendor's own that overlap with ours when the caller leaves ours out. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly created: unknown;
  createdAs(id: string): string;
  readonly upstreamId: string;
  readonly poll: string;
  readonly states: readonly (readonly [unknown, VideoState["state"]])[];
  withWord(word: string): unknown;
  /** There are no words but done or not. */
  readonly wordless?: true;
  /** A task's name is a path of the vendor's own. */
  readonly named?: true;
  /** Answers that are well formed and yet end nothing: a success without a video. */
  readonly halves: readonly unknown[];
  /** The vendor's own 404 for a task; null where it has none that is known. */
  readonly gone: unknown;
}
