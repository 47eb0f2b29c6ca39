import type { RouteId } from "@sluice/contract";

/** Routes to refetch after a workspace, a group or its members changed. */
export const afterWorkspaceChange: readonly RouteId[] = [
  "workspaces.list",
  "workspaces.show",
  "groups.list",
  "members.list",
  "invitations.list",
  "access.table",
  "access.check",
  "limits.list",
  "keys.list",
  "keys.show",
  "session.show",
];
