import type { RouteId } from "@sluice/contract";

/** Queries to refetch after a key was created or updated. */
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
