import { bounds } from "#core/index.ts";
import { type Refusal, refused } from "./asset-refusal.ts";
import type { ByteView } from "./blob-view.ts";
import { durationOf } from "./duration.ts";
import { imageSizeOf } from "./image-size.ts";
import type { MediaType } from "./media-type.ts";

/** Whether the measures of a file, as far as they can be read, are ones that material may have. null: nothing against it. */
export async function measureProblem(view: ByteView, media: MediaType): Promise<Refusal | null> {
  return media.type === "Image" ? imageProblem(view, media.contentType) : durationProblem(view, media.contentType);
}

async function imageProblem(view: ByteView, contentType: string): Promise<Refusal | null> {
  const size = await imageSizeOf(view, contentType);
  if (size === null) return null;
  const { width, height } = size;
  const { assetSidePixelsMin: least, assetSidePixelsMax: most, assetRatioMin, assetRatioMax } = bounds;
  const said = `The picture is ${width} × ${height} pixels`;
  if (Math.min(width, height) < least || Math.max(width, height) > most) {
    return refused("bad_dimensions", `${said}; each side must have ${least} to ${most}.`);
  }
  const ratio = width / height;
  if (ratio >= assetRatioMin && ratio <= assetRatioMax) return null;
  return refused("bad_dimensions", `${said}; width by height must be ${assetRatioMin} to ${assetRatioMax}.`);
}

async function durationProblem(view: ByteView, contentType: string): Promise<Refusal | null> {
  const seconds = await durationOf(view, contentType);
  if (seconds === null || (seconds >= bounds.assetSecondsMin && seconds <= bounds.assetSecondsMax)) return null;
  const said = `It lasts ${Math.round(seconds * 10) / 10} seconds`;
  return refused("bad_duration", `${said}; ${bounds.assetSecondsMin} to ${bounds.assetSecondsMax} are taken.`);
}
