import type { WorkspaceWithUsage } from "@sluice/contract";
import type { Column } from "../../../components/data-table.tsx";
import { Count, Nothing } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { budgetWords, limitWords } from "../../keys/limit-words.ts";
import { roleHeld } from "../role-words.ts";
import { WorkspaceStatus } from "../workspace-status.tsx";

export function workspaceColumns(administrator: boolean): readonly Column<WorkspaceWithUsage>[] {
  return [
    {
      id: "name",
      header: t("workspaces.name"),
      sortBy: "gateway",
      cell: (workspace) => (
        <span className="key-name">
          {workspace.name}
          <small>{workspace.slug}</small>
        </span>
      ),
    },
    {
      id: "state",
      header: t("workspaces.status"),
      sortBy: "gateway",
      cell: (workspace) => (
        <span className="key-state">
          <WorkspaceStatus workspace={workspace} />
          <ManagedByFile by={workspace.managed_by} />
        </span>
      ),
    },
    { id: "role", header: t("workspaces.yourRole"), cell: (workspace) => roleHeld(workspace.role, administrator) },
    figure("keys", t("workspaces.keys")),
    figure("groups", t("workspaces.groups")),
    figure("members", t("workspaces.members")),
    {
      id: "limits",
      header: t("workspaces.limits"),
      cell: (workspace) => limitWords(workspace.limits) || <Nothing word={t("workspaces.none")} />,
    },
    {
      id: "budget",
      header: t("workspaces.budget"),
      sortBy: "gateway",
      cell: (workspace) =>
        workspace.budget === null ? <Nothing word={t("workspaces.none")} /> : budgetWords(workspace.budget),
      align: "right",
    },
  ];
}

function figure(id: "keys" | "groups" | "members", header: string): Column<WorkspaceWithUsage> {
  return {
    id,
    header,
    sortBy: "gateway",
    cell: (workspace) => <Count value={workspace[id]} />,
    align: "right",
  };
}
