import { type UsageDimension, usageDimensions } from "@sluice/contract";
import { t } from "../../language/areas/overview.ts";

/** The dimensions that usage can be grouped by. */
export type Dimension = Exclude<UsageDimension, "none" | "tag" | "user_agent" | "endpoint">;

export const dimensionWords: Readonly<Record<Dimension, string>> = {
  model: t("overview.by.model"),
  provider: t("overview.by.provider"),
  key: t("overview.by.key"),
  group: t("overview.by.group"),
  workspace: t("overview.by.workspace"),
  person: t("overview.by.person"),
};

export const dimensions = usageDimensions.filter((each): each is Dimension => each in dimensionWords);

export function isDimension(text: string): text is Dimension {
  return dimensions.some((each) => each === text);
}
