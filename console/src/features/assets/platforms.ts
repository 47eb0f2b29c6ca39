import { t } from "../../language/areas/assets.ts";
/** Where material can live. The names are the API's. */
export const platforms = [
  {
    id: "local",
    name: "Local",
    about: t("assets.theGatewayFetchesAndKeeps"),
  },
  {
    id: "volcengine",
    name: "Volcengine",
    about: t("assets.theAssetLibraryOfAn"),
  },
  { id: "byteplus", name: "BytePlus", about: t("assets.theAssetLibraryOfA") },
] as const;

export function platformName(id: string): string {
  return platforms.find((platform) => platform.id === id)?.name ?? id;
}
