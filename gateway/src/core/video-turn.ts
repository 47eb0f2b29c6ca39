import type { TaskRequest } from "./task.ts";

/** Material of a video: what it begins or ends with, or what it should look and sound like. */
export interface VideoMaterial {
  readonly role: "first_frame" | "last_frame" | "reference";
  readonly type: "image" | "video" | "audio";
  /** A public URL, a `data:` URI, or, once resolved, the library id that the upstream knows (`asset://…`). */
  readonly url: string;
}

/** A video task in neutral form, its assets resolved for the upstream that is to make it. */
export interface VideoTurn extends Omit<TaskRequest, "remixOf"> {
  /** What the upstream calls the video that is made anew; its length, shape and sound stay. Absent: none. */
  readonly remixOf?: string;
  readonly material: readonly VideoMaterial[];
  /** A vendor-shaped `content` array, passed on with assets resolved; null when the caller used our own fields. */
  readonly content: readonly unknown[] | null;
  /** Members of the body that are not ours: forwarded as they are. */
  readonly more: Readonly<Record<string, unknown>>;
  readonly wantsLastFrame: boolean;
}

/** What one upstream model takes. An empty list or a null range: not known, so nothing is refused. */
export interface VideoCapabilities {
  readonly ratios: readonly string[];
  readonly resolutions: readonly string[];
  /** Whole seconds; either these or a range. */
  readonly durations: readonly number[];
  readonly durationMin: number | null;
  readonly durationMax: number | null;
  readonly audio: boolean | null;
  readonly firstFrame: boolean | null;
  readonly lastFrame: boolean | null;
  readonly referencesMax: number | null;
  readonly seed: boolean | null;
}

export const unknownCapabilities: VideoCapabilities = Object.freeze({
  ratios: [],
  resolutions: [],
  durations: [],
  durationMin: null,
  durationMax: null,
  audio: null,
  firstFrame: null,
  lastFrame: null,
  referencesMax: null,
  seed: null,
});
