/** What a member of a workspace may do there, least first. Each includes those before it. */
export const workspaceRoles = ["viewer", "member", "admin", "owner"] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

/**
 * Who may take a route or see a field, least first: `public` anybody; `signed-in` any user or admin token; a workspace role
 * counts in the workspace that the path names (in some workspace, for a route that names none); `administrator` has the whole
 * installation and every role in every workspace.
 */
export const needs = ["public", "signed-in", ...workspaceRoles, "administrator"] as const;
export type Need = (typeof needs)[number];

/** Whether whoever stands at `held` may do what needs `needed`. */
export function meets(held: Need, needed: Need): boolean {
  return needs.indexOf(held) >= needs.indexOf(needed);
}

/** The path's word for every workspace at once; for administrators only. */
export const everyWorkspace = "-";
