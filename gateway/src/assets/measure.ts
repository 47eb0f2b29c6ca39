import { type Refusal, refused } from "./asset-refusal.ts";
import type { ByteView } from "./blob-view.ts";
import { durationOf } from "./duration.ts";
import { imageSizeOf } from "./image-size.ts";
import type { MediaType } from "./media-type.ts";

/** Sides in pixels, and width by height, as the strictest known library takes them. */
const assetSidePixelsMin = 300;
const assetSidePixelsMax = 6_000;
const assetRatioMin = 0.4;
const assetRatioMax = 2.5;
/** Wider than any one vendor (Ark takes 2 to 15 seconds); each judges for itself beyond this. */
const assetSecondsMin = 1;
const assetSecondsMax = 120;

/** Whether the measures of a file, as far as they can be read, are ones that material may have. null: nothing against it. */
export async function measureProblem(view: ByteView, media: MediaType): Promise<Refusal | null> {
  return media.type === "Image" ? imageProblem(view, media.contentType) : durationProblem(view, media.contentType);
}

async function imageProblem(view: ByteView, contentType: string): Promise<Refusal | null> {
  const size = await imageSizeOf(view, contentType);
  if (size === null) return null;
  const { width, height } = size;
  const said = `The picture is ${width} × ${height} pixels`;
  if (Math.min(width, height) < assetSidePixelsMin || Math.max(width, height) > assetSidePixelsMax) {
    return refused("bad_dimensions", `${said}; each side must have ${assetSidePixelsMin} to ${assetSidePixelsMax}.`);
  }
  const ratio = width / height;
  if (ratio >= assetRatioMin && ratio <= assetRatioMax) return null;
  return refused("bad_dimensions", `${said}; width by height must be ${assetRatioMin} to ${assetRatioMax}.`);
}

async function durationProblem(view: ByteView, contentType: string): Promise<Refusal | null> {
  const seconds = await durationOf(view, contentType);
  if (seconds === null || (seconds >= assetSecondsMin && seconds <= assetSecondsMax)) return null;
  const said = `It lasts ${Math.round(seconds * 10) / 10} seconds`;
  return refused("bad_duration", `${said}; ${assetSecondsMin} to ${assetSecondsMax} are taken.`);
}
