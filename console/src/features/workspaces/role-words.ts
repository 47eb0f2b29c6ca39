import { meets, type Need, type WorkspaceRole, workspaceRoles } from "@sluice/contract";
import { t } from "../../language/areas/workspaces.ts";

/** What each role may do, as `docs/console-roles.md` has it call by call. Each may also do what those before it may. */
export const roleWords: Readonly<Record<WorkspaceRole, { readonly label: string; readonly may: string }>> = {
  viewer: { label: t("workspaces.viewer"), may: t("workspaces.looksKeysUseRequestsLimits") },
  member: { label: t("workspaces.member"), may: t("workspaces.alsoMakesKeysAndManages") },
  admin: {
    label: t("workspaces.admin"),
    may: t("workspaces.alsoManagesEveryKeyGroups"),
  },
  owner: { label: t("workspaces.owner"), may: t("workspaces.alsoRenamesTheWorkspaceAnd") },
};

/** The roles that somebody who holds `held` may give or take. */
export function rolesUpTo(held: Need): readonly WorkspaceRole[] {
  return workspaceRoles.filter((role) => meets(held, role));
}
