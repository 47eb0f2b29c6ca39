import { type AssetType, bounds } from "#core/index.ts";

export const assetBytesMax: Readonly<Record<AssetType, number>> = {
  Image: bounds.assetImageBytesMax,
  Video: bounds.assetVideoBytesMax,
  Audio: bounds.assetAudioBytesMax,
};

export function tooLargeFor(type: AssetType): string {
  return `Larger than ${assetBytesMax[type] / (1024 * 1024)} MiB, the most for asset_type ${type}.`;
}
