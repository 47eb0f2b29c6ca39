import type { ConsoleKey } from "@sluice/contract";
import type { Column } from "../../../components/data-table.tsx";
import { Nothing, When } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { budgetWords, limitWords } from "../limit-words.ts";

const name: Column<ConsoleKey> = {
  id: "name",
  header: "Name",
  sortBy: (key) => key.name.toLowerCase(),
  cell: (key) => (
    <span className="key-name">
      {key.name}
      {key.state !== "without_secret" && (
        <small>
          {key.prefix}…{key.last_four}
        </small>
      )}
    </span>
  ),
};

const workspace: Column<ConsoleKey> = {
  id: "workspace",
  header: "Workspace",
  sortBy: (key) => key.workspace.slug,
  cell: (key) => key.workspace.slug,
};

const rest: readonly Column<ConsoleKey>[] = [
  { id: "group", header: "Group", sortBy: (key) => key.group.name, cell: (key) => key.group.name },
  {
    id: "state",
    header: "State",
    sortBy: (key) => key.state,
    cell: (key) => (
      <span className="key-state">
        <StatusBadge status={key.state} {...hintOf(key)} />
        <ManagedByFile by={key.managed_by} />
      </span>
    ),
  },
  {
    id: "limits",
    secondary: true,
    header: "Limits",
    cell: (key) => limitWords(key.limits) || <Nothing word="none of its own" />,
  },
  {
    id: "budget",
    header: "Budget",
    sortBy: (key) => key.budget?.usd ?? null,
    cell: (key) => (key.budget === null ? <Nothing word="none of its own" /> : budgetWords(key.budget)),
    align: "right",
  },
  {
    id: "expires",
    secondary: true,
    header: "Expires",
    sortBy: (key) => key.expires_at,
    cell: (key) => (key.expires_at === null ? <Nothing word="never" /> : <When at={key.expires_at} />),
    align: "right",
  },
  {
    id: "used",
    header: "Last used",
    sortBy: (key) => key.last_used_at,
    cell: (key) => <When at={key.last_used_at} />,
    align: "right",
  },
];

export const columnsInWorkspace: readonly Column<ConsoleKey>[] = [name, ...rest];
export const columnsOfAll: readonly Column<ConsoleKey>[] = [name, workspace, ...rest];

function hintOf(key: ConsoleKey): { hint?: string } {
  if (key.state === "without_secret") return { hint: "It has no secret yet. Rotate it to get one." };
  return {};
}
