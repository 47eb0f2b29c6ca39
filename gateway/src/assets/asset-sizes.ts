import type { AssetType } from "#core/index.ts";

/** Material of our own platform, as the strictest known library takes it. */
export const assetImageBytesMax = 30 * 1024 * 1024;
const assetVideoBytesMax = 50 * 1024 * 1024;
export const assetAudioBytesMax = 15 * 1024 * 1024;

export const assetBytesMax: Readonly<Record<AssetType, number>> = {
  Image: assetImageBytesMax,
  Video: assetVideoBytesMax,
  Audio: assetAudioBytesMax,
};

export function tooLargeFor(type: AssetType): string {
  return `Larger than ${assetBytesMax[type] / (1024 * 1024)} MiB, the most for asset_type ${type}.`;
}
