import { type UsageDimension, usageDimensions } from "@sluice/contract";

/** What usage is told apart by. */
export type Dimension = Exclude<UsageDimension, "none">;

export const dimensionWords: Readonly<Record<Dimension, string>> = {
  model: "Model",
  provider: "Provider",
  key: "Key",
  group: "Group",
  workspace: "Workspace",
};

export const dimensions: readonly Dimension[] = usageDimensions.filter((each) => each !== "none");

export function isDimension(text: string): text is Dimension {
  return dimensions.some((each) => each === text);
}
