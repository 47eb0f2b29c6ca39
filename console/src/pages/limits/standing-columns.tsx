import type { LimitStandingRow } from "@sluice/contract";
import type { LinkProps } from "@tanstack/react-router";
import { Meter } from "../../limits/meter.tsx";
import { OutlookText, Resets } from "../../limits/outlook.tsx";
import { kindWords, nameOf, shareOf } from "../../limits/standing-words.ts";
import type { Column } from "../../parts/data-table.tsx";

const scopeWords = { workspace: "Workspace", group: "Group", key: "Key" } as const;

export const standingColumns: readonly Column<LimitStandingRow>[] = [
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
export function linkOf({ scope, scope_id: id, workspace }: LimitStandingRow): LinkProps {
  const search = { workspace: workspace.slug };
  if (scope === "key") return { to: "/keys/$key", params: { key: id }, search };
  return {
    to: "/workspaces/$workspace",
    params: { workspace: workspace.slug },
    search: scope === "group" ? { ...search, tab: "groups", group: id } : search,
  };
}
