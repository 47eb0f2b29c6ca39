import type { AnswerOf, RouteId } from "@sluice/contract";

/** Which group's settings. */
export interface GroupParams extends Readonly<Record<"workspace" | "group", string>> {}

export type SettingsNow = AnswerOf<"agents.settings">;

/** Routes to refetch after the settings changed. */
export const afterSettingsChange: readonly RouteId[] = [
  "agents.settings",
  "agents.settingsVersions",
  "agents.previewSettings",
];
