/** Features of a family of Seedance models. */
export interface ArkFamily {
  /** The minimum and maximum in whole seconds. */
  readonly durations: readonly [number, number];
  /** Whether -1 lets the model choose the duration. */
  readonly durationFree: boolean;
  /** Whether frames can be set instead of a duration, and the camera can be fixed. */
  readonly frames: boolean;
  readonly sound: boolean;
  readonly drafts: boolean;
  /** Whether the cheaper tier and task priorities are supported. */
  readonly flex: boolean;
  readonly priority: boolean;
  readonly resolutions: readonly string[];
  /** The maximum numbers of reference images, videos and audio files. */
  readonly references: readonly [number, number, number];
  readonly defaultResolution: string;
}

/** Returns null for names without a known family (endpoint ids, later models), which are not restricted. */
export function arkFamily(model: string): ArkFamily | null {
  const version = /seedance-(\d-\d)/.exec(model)?.[1];
  if (version === "1-0") return model.includes("lite-i2v") ? liteImages : model.includes("lite") ? lite : pro;
  if (version === "1-5") return withSound;
  if (version === "2-0") return /-(?:fast|mini)/.test(model) ? { ...second, resolutions: ["480p", "720p"] } : second;
  return version === "2-5" ? { ...second, durations: [4, 30], references: [30, 10, 10] } : null;
}

/** Whether the name is a family without a version date, which the vendor does not accept. */
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
  defaultResolution: "1080p",
};

const lite: ArkFamily = { ...pro, defaultResolution: "720p" };
const liteImages: ArkFamily = { ...lite, references: [4, 0, 0] };
const withSound: ArkFamily = { ...lite, durations: [4, 12], frames: false, sound: true, drafts: true };

const second: ArkFamily = {
  ...withSound,
  durations: [4, 15],
  durationFree: true,
  drafts: false,
  flex: false,
  priority: true,
  resolutions: ["480p", "720p", "1080p", "4k"],
  references: [9, 3, 3],
};
