import { meets, type Need, type WorkspaceRole, workspaceRoles } from "@sluice/contract";

/** What each role may do, as `docs/console-roles.md` has it call by call. Each may also do what those before it may. */
export const roleWords: Readonly<Record<WorkspaceRole, { readonly label: string; readonly may: string }>> = {
  viewer: { label: "Viewer", may: "Looks: keys, use, requests, limits, members. Changes nothing." },
  member: { label: "Member", may: "Also makes keys and manages those, and uses the playground, tasks and assets." },
  admin: {
    label: "Admin",
    may: "Also manages every key, groups, members up to admin and notices, reads captured requests and the audit log.",
  },
  owner: { label: "Owner", may: "Also renames the workspace and manages its owners." },
};

/** The roles that somebody who holds `held` may give or take. */
export function rolesUpTo(held: Need): readonly WorkspaceRole[] {
  return workspaceRoles.filter((role) => meets(held, role));
}
