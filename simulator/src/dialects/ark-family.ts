/** What a family of Seedance models takes. */
export interface ArkFamily {
  /** Whole seconds, first and last. */
  readonly durations: readonly [number, number];
  /** -1 leaves the length to the model. */
  readonly durationFree: boolean;
  /** A number of frames in place of a duration, and a fixed camera. */
  readonly frames: boolean;
  readonly sound: boolean;
  readonly drafts: boolean;
  /** The cheap tier, and an order of tasks. */
  readonly flex: boolean;
  readonly priority: boolean;
  readonly resolutions: readonly string[];
  /** Reference images, videos and audios, at most. */
  readonly references: readonly [number, number, number];
  readonly resolutionUsual: string;
}

/** Null for names that tell nothing (endpoint ids, models of later families): those are not limited. */
export function arkFamily(model: string): ArkFamily | null {
  const version = /seedance-(\d-\d)/.exec(model)?.[1];
  if (version === "1-0") return model.includes("lite-i2v") ? liteImages : model.includes("lite") ? lite : pro;
  if (version === "1-5") return sounding;
  if (version === "2-0") return /-(?:fast|mini)/.test(model) ? { ...second, resolutions: ["480p", "720p"] } : second;
  return version === "2-5" ? { ...second, durations: [4, 30], references: [30, 10, 10] } : null;
}

/** A family's name without the date of a version: the vendor knows no such model. */
export function isBareFamily(model: string): boolean {
  return /^(?:doubao|dreamina)-seedance-\d-\d(?:-[a-z]\w*)*$/.test(model);
}

const pro: ArkFamily = {
  durations: [2, 12],
  durationFree: false,
  frames: true,
  sound: false,
  drafts: false,
  flex: true,
  priority: false,
  resolutions: ["480p", "720p", "1080p"],
  references: [0, 0, 0],
  resolutionUsual: "1080p",
};

const lite: ArkFamily = { ...pro, resolutionUsual: "720p" };
const liteImages: ArkFamily = { ...lite, references: [4, 0, 0] };
const sounding: ArkFamily = { ...lite, durations: [4, 12], frames: false, sound: true, drafts: true };

const second: ArkFamily = {
  ...sounding,
  durations: [4, 15],
  durationFree: true,
  drafts: false,
  flex: false,
  priority: true,
  resolutions: ["480p", "720p", "1080p", "4k"],
  references: [9, 3, 3],
};
