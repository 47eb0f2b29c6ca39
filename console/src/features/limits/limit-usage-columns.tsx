import type { LimitUsageRow } from "@sluice/contract";
import type { LinkProps } from "@tanstack/react-router";
import type { Column } from "../../components/data-table.tsx";
import { kindWords, nameOf, shareOf } from "./limit-usage-words.ts";
import { Meter } from "./meter.tsx";
import { OutlookText, Resets } from "./outlook.tsx";

const scopeWords = { workspace: "Workspace", group: "Group", key: "Key" } as const;

export const limitUsageColumns: readonly Column<LimitUsageRow>[] = [
  {
    id: "name",
    header: "Of",
    sortBy: (row) => nameOf(row),
    cell: (row) => (
      <span className="key-name">
        {nameOf(row)}
        <small>{scopeWords[row.scope]}</small>
      </span>
    ),
  },
  { id: "kind", header: "Limit", sortBy: kindWords, cell: kindWords },
  { id: "used", header: "Used", width: "16rem", sortBy: shareOf, cell: (row) => <Meter row={row} /> },
  {
    id: "resets",
    header: "Frees",
    sortBy: (row) => (row.kind === "budget" ? row.resets_at : null),
    cell: (row) => <Resets row={row} />,
  },
  {
    id: "outlook",
    header: "Outlook",
    sortBy: (row) => row.forecast?.exhausted_at ?? null,
    cell: (row) => <OutlookText row={row} />,
  },
];

/** Where the limit is set. */
export function linkOf({ scope, scope_id: id, workspace }: LimitUsageRow): LinkProps {
  const search = { workspace: workspace.slug };
  if (scope === "key") return { to: "/keys/$key", params: { key: id }, search };
  return {
    to: "/workspaces/$workspace",
    params: { workspace: workspace.slug },
    search: scope === "group" ? { ...search, tab: "groups", group: id } : search,
  };
}
