import { formatBytes } from "../../client/format.ts";
import type { Problem } from "../../client/problem.ts";
import { t } from "../../language/areas/assets.ts";
import { type assetTypes, typeOfAddress } from "./asset-types.ts";

type AssetType = (typeof assetTypes)[number];

/** Maximum size by type. The gateway checks again. */
export const uploadBytesMax: Readonly<Record<AssetType, number>> = {
  Image: 30 * 1024 * 1024,
  Video: 50 * 1024 * 1024,
  Audio: 15 * 1024 * 1024,
};

export const uploadTypes = "image/*,video/*,audio/*";

type ChosenFile = Pick<File, "name" | "size" | "type">;

/** Why a file cannot be uploaded; null if it can. The gateway checks the content. */
export function uploadProblem(file: ChosenFile): string | null {
  const { name, size } = file;
  if (size === 0) return t("assets.upload.empty", { name });
  const type = typeOfFile(file);
  if (type === null) return t("assets.upload.unsupported", { name });
  const most = uploadBytesMax[type];
  if (size <= most) return null;
  return t("assets.upload.tooLarge", { name, size: formatBytes(size), most: formatBytes(most) });
}

/** The type that the browser reports, or else by file extension. */
function typeOfFile({ name, type }: ChosenFile): AssetType | null {
  if (type.startsWith("image/")) return "Image";
  if (type.startsWith("video/")) return "Video";
  if (type.startsWith("audio/")) return "Audio";
  const byEnding = typeOfAddress(name);
  return type === "" && byEnding !== "Image" ? byEnding : null;
}

/** The translated error about the file; the form shows the gateway's message below. */
export function refusedFile(problem: Problem | null): string | null {
  if (problem === null) return null;
  if (problem.code === "request_too_large") return t("assets.upload.tooLargeHere");
  if (problem.param !== "file") return null;
  if (problem.code === "unsupported_media_type") return t("assets.upload.unsupportedContent");
  return t("assets.upload.unfit");
}

/** The default name of an asset: the file name without extension. */
export function nameOfFile(name: string): string {
  return [...name.replace(/\.[A-Za-z0-9]{1,8}$/, "")].slice(0, 64).join("").trim();
}
