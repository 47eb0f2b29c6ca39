import type { ConsoleWorkspace } from "@sluice/contract";
import type { Column } from "../../../components/data-table.tsx";
import { Count, Nothing } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { budgetWords, limitWords } from "../../keys/limit-words.ts";
import { roleWords } from "../role-words.ts";

export const workspaceColumns: readonly Column<ConsoleWorkspace>[] = [
  {
    id: "name",
    header: "Name",
    sortBy: (workspace) => workspace.name.toLowerCase(),
    cell: (workspace) => (
      <span className="key-name">
        {workspace.name}
        <small>{workspace.slug}</small>
      </span>
    ),
  },
  {
    id: "state",
    header: "State",
    sortBy: (workspace) => (workspace.enabled ? 0 : 1),
    cell: (workspace) => (
      <span className="key-state">
        <StatusBadge status={workspace.enabled ? "enabled" : "disabled"} />
        <ManagedByFile by={workspace.managed_by} />
      </span>
    ),
  },
  { id: "role", header: "Your role", cell: (workspace) => roleWords[workspace.role].label },
  figure("keys", "Keys"),
  figure("groups", "Groups"),
  figure("members", "Members"),
  {
    id: "limits",
    header: "Limits",
    cell: (workspace) => limitWords(workspace.limits) || <Nothing word="none" />,
  },
  {
    id: "budget",
    header: "Budget",
    sortBy: (workspace) => workspace.budget?.usd ?? null,
    cell: (workspace) => (workspace.budget === null ? <Nothing word="none" /> : budgetWords(workspace.budget)),
    align: "right",
  },
];

function figure(id: "keys" | "groups" | "members", header: string): Column<ConsoleWorkspace> {
  return {
    id,
    header,
    sortBy: (workspace) => workspace[id],
    cell: (workspace) => <Count value={workspace[id]} />,
    align: "right",
  };
}
