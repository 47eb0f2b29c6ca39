/** Roles in a workspace, weakest first. Each includes the ones before it. */
export const workspaceRoles = ["viewer", "member", "admin", "owner"] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

/**
 * Who may make a call or see a field, weakest first. `public`: anyone. `signed-in`: any user or admin token. A workspace role counts
 * in the workspace of the path, or in any workspace if the path has none. `administrator` includes every role in every workspace.
 */
export const needs = ["public", "signed-in", ...workspaceRoles, "administrator"] as const;
export type Need = (typeof needs)[number];

/** Whether `held` includes `needed`. */
export function meets(held: Need, needed: Need): boolean {
  return needs.indexOf(held) >= needs.indexOf(needed);
}

/** In a path: all workspaces. For administrators only. */
export const everyWorkspace = "-";
