import type { RouteId } from "@sluice/contract";

/** What looks different after a key was made or changed. */
export const afterKeyChange: readonly RouteId[] = [
  "keys.list",
  "keys.show",
  "access.table",
  "access.check",
  "limits.list",
  "groups.list",
  "workspaces.show",
  "workspaces.list",
  "session.show",
];
