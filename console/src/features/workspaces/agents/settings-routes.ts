import type { RouteId } from "@sluice/contract";

/** Which group's settings. */
export interface GroupParams extends Readonly<Record<"workspace" | "group", string>> {}

/** What looks different after they changed. */
export const afterSettingsChange: readonly RouteId[] = [
  "agents.settings",
  "agents.settingsVersions",
  "agents.previewSettings",
];
