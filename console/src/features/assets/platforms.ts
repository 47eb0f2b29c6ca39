import { t } from "../../language/areas/assets.ts";
/** Platforms that can store assets, by their API names. */
export const platforms = [
  {
    id: "local",
    name: t("assets.platforms.local"),
    about: t("assets.platforms.localHelp"),
  },
  {
    id: "volcengine",
    name: t("assets.platforms.volcengine"),
    about: t("assets.platforms.volcengineHelp"),
  },
  { id: "byteplus", name: t("assets.platforms.byteplus"), about: t("assets.platforms.byteplusHelp") },
] as const;

export function platformName(id: string): string {
  return platforms.find((platform) => platform.id === id)?.name ?? id;
}
