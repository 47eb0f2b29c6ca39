import { meets, type Need, type WorkspaceRole, workspaceRoles } from "@sluice/contract";
import { t } from "../../language/areas/workspaces.ts";

/** The permissions of each role; `docs/console-roles.md` lists every call. Each role includes the ones before it. */
export const roleWords: Readonly<Record<WorkspaceRole, { readonly label: string; readonly may: string }>> = {
  viewer: { label: t("workspaces.role.viewer"), may: t("workspaces.role.viewerMay") },
  member: { label: t("workspaces.role.member"), may: t("workspaces.role.memberMay") },
  admin: {
    label: t("workspaces.role.admin"),
    may: t("workspaces.role.adminMay"),
  },
  owner: { label: t("workspaces.role.owner"), may: t("workspaces.role.ownerMay") },
};

/** The roles that a user with role `held` may assign and remove. */
export function rolesUpTo(held: Need): readonly WorkspaceRole[] {
  return workspaceRoles.filter((role) => meets(held, role));
}

/** The user's role: administrators are administrators in every workspace. */
export function roleHeld(role: WorkspaceRole, administrator: boolean): string {
  return administrator ? t("workspaces.role.administrator") : roleWords[role].label;
}
