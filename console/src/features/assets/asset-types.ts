import { t } from "../../language/areas/assets.ts";
export const assetTypes = [t("assets.image"), t("assets.video"), t("assets.audio")] as const;

const byEnding: Readonly<Record<string, (typeof assetTypes)[number]>> = {
  mp4: t("assets.video"),
  mov: t("assets.video"),
  webm: t("assets.video"),
  wav: t("assets.audio"),
  mp3: t("assets.audio"),
  m4a: t("assets.audio"),
  flac: t("assets.audio"),
  ogg: t("assets.audio"),
};

/** What an address most likely leads to, by its ending; a picture where that says nothing. */
export function typeOfAddress(url: string): (typeof assetTypes)[number] {
  const path = URL.canParse(url) ? new URL(url).pathname : url;
  return byEnding[path.split(".").at(-1)?.toLowerCase() ?? ""] ?? t("assets.image");
}
