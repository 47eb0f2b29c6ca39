import type { LimitUsageRow } from "@sluice/contract";
import type { LinkProps } from "@tanstack/react-router";
import type { Column } from "../../components/data-table.tsx";
import { t } from "../../language/areas/limits.ts";
import { ExhaustedBadge } from "./limit-usage-list.tsx";
import { kindWords, nameOf, shareOf } from "./limit-usage-words.ts";
import { Meter } from "./meter.tsx";
import { OutlookText, Resets } from "./outlook.tsx";

const scopeWords = {
  workspace: t("limits.scope.workspace"),
  group: t("limits.scope.group"),
  person: t("limits.scope.person"),
  key: t("limits.scope.key"),
} as const;

export const limitUsageColumns: readonly Column<LimitUsageRow>[] = [
  {
    id: "name",
    header: t("limits.scope.title"),
    sortBy: (row) => nameOf(row),
    cell: (row) => (
      <span className="key-name">
        {nameOf(row)} {row.exhausted && <ExhaustedBadge />}
        <small>{scopeWords[row.scope]}</small>
      </span>
    ),
  },
  { id: "kind", header: t("limits.limit"), width: "8.5rem", sortBy: kindWords, cell: kindWords },
  { id: "used", header: t("limits.used"), width: "13rem", sortBy: urgencyOf, cell: (row) => <Meter row={row} /> },
  {
    id: "resets",
    header: t("limits.resets"),
    sortBy: (row) => (row.kind === "budget" ? row.resets_at : null),
    cell: (row) => <Resets row={row} />,
  },
  {
    id: "outlook",
    header: t("limits.forecast.title"),
    sortBy: (row) => row.forecast?.exhausted_at ?? null,
    cell: (row) => <OutlookText row={row} />,
  },
];

/** Limits that refuse calls come first, then the most used ones. */
function urgencyOf(row: LimitUsageRow): number {
  return row.exhausted ? 1 + Math.max(1, shareOf(row)) : Math.min(1, shareOf(row));
}

/** The scope of the limit. */
export function linkOf({ scope, scope_id: id, workspace }: LimitUsageRow): LinkProps {
  const search = { workspace: workspace.slug };
  if (scope === "key") return { to: "/keys/$key", params: { key: id }, search };
  const places = {
    workspace: search,
    group: { ...search, tab: "groups", group: id },
    person: { ...search, tab: "members", limits: id },
  };
  return { to: "/workspaces/$workspace", params: { workspace: workspace.slug }, search: places[scope] };
}
