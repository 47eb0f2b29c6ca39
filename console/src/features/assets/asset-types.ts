import type { ConsoleAsset } from "@sluice/contract";
import { t } from "../../language/areas/assets.ts";

type AssetType = ConsoleAsset["asset_type"];

export const assetTypes = ["Image", "Video", "Audio"] as const satisfies readonly AssetType[];

export const assetTypeWords: Readonly<Record<AssetType, string>> = {
  Image: t("assets.types.image"),
  Video: t("assets.types.video"),
  Audio: t("assets.types.audio"),
};

const byEnding: Readonly<Record<string, AssetType>> = {
  mp4: "Video",
  mov: "Video",
  webm: "Video",
  wav: "Audio",
  mp3: "Audio",
  m4a: "Audio",
  flac: "Audio",
  ogg: "Audio",
};

/** Guesses the type from the ending of a URL; defaults to an image. */
export function typeOfAddress(url: string): AssetType {
  const path = URL.canParse(url) ? new URL(url).pathname : url;
  return byEnding[path.split(".").at(-1)?.toLowerCase() ?? ""] ?? "Image";
}
