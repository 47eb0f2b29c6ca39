import type { AnswerOf, RouteId } from "@sluice/contract";

/** Which group's settings. */
export interface GroupParams extends Readonly<Record<"workspace" | "group", string>> {}

export type SettingsNow = AnswerOf<"agents.settings">;

/** What looks different after they changed. */
export const afterSettingsChange: readonly RouteId[] = [
  "agents.settings",
  "agents.settingsVersions",
  "agents.previewSettings",
];
