import { unknownCapabilities, type VideoCapabilities } from "#core/index.ts";

/**
 * What the families of Seedance take, by model id; of an endpoint (`ep-…`) nothing is known. Tags as in ark.ts: M is
 * what several third parties say of the vendor's page, U nobody confirmed. What is not sure enough to refuse is left open.
 */
export function arkCapabilities(upstreamModel: string): VideoCapabilities {
  return families.find(([family]) => family.test(upstreamModel))?.[1] ?? unknownCapabilities;
}

const ratios = ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"];

const first: VideoCapabilities = {
  ...unknownCapabilities,
  // keep_ratio: older models that begin with a picture (M).
  ratios: [...ratios, "keep_ratio"],
  resolutions: ["480p", "720p", "1080p"],
  durationMin: 2, // M
  durationMax: 12, // M
  audio: false, // generate_audio is of 1.5 and 2.x only (V)
  seed: true,
};

const second: VideoCapabilities = {
  ...unknownCapabilities,
  ratios,
  resolutions: ["480p", "720p", "1080p", "4k"], // 4k on the standard model only (M)
  // -1: the model decides (M).
  durations: [-1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  audio: true,
  firstFrame: true,
  lastFrame: true,
  referencesMax: 15, // 9 images, 3 videos, 3 audios (V, from the vendor's solution architects)
  seed: true, // one source says that it is ignored, another lists it: taken and echoed (conflict)
};

const families: readonly (readonly [RegExp, VideoCapabilities])[] = [
  [/seedance-1-0-lite-t2v/, { ...first, firstFrame: false, lastFrame: false, referencesMax: 0 }],
  [/seedance-1-0-lite-i2v/, { ...first, firstFrame: true, lastFrame: true, referencesMax: 4 }], // M
  [/seedance-1-0/, { ...first, firstFrame: true }],
  [
    /seedance-1-5/,
    {
      ...first,
      ratios,
      durationMin: 4, // U exact
      audio: true,
      firstFrame: true,
      lastFrame: true,
    },
  ],
  [/seedance-2-0-(fast|mini)/, { ...second, resolutions: ["480p", "720p"] }], // M
  [/seedance-2-0/, second],
  // Up to 30 seconds or -1, more lines than 2.0 are not ruled out; 30 images, 10 videos, 10 audios (M).
  [/seedance-2-5/, { ...second, resolutions: [], durations: [-1], durationMax: 30, referencesMax: 50 }],
];
