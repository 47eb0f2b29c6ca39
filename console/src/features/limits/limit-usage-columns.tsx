import type { LimitUsageRow } from "@sluice/contract";
import type { LinkProps } from "@tanstack/react-router";
import type { Column } from "../../components/data-table.tsx";
import { Money, Nothing } from "../../components/figures.tsx";
import { t } from "../../language/areas/limits.ts";
import { rowName } from "../usage/row-names.ts";
import { LimitCell } from "./limit-editor.tsx";
import { LimitBadge } from "./limit-usage-list.tsx";
import { kindWords, nameOf } from "./limit-usage-words.ts";
import { Meter } from "./meter.tsx";
import { OutlookText, Resets } from "./outlook.tsx";

const scopeWords = {
  workspace: t("limits.scope.workspace"),
  group: t("limits.scope.group"),
  person: t("limits.scope.person"),
  key: t("limits.scope.key"),
} as const;

const depths = { workspace: 0, person: 1, group: 1, key: 2 } as const;

/**
 * Sorted on the server, so the ids are names of orders. `asTree`: names are indented below their workspace and group. `tag`: splits
 * the spend of budgets.
 */
export function limitUsageColumns(asTree: boolean, tag = ""): readonly Column<LimitUsageRow>[] {
  return [
    {
      id: "place",
      header: t("limits.scope.title"),
      sortBy: nameOf,
      cell: (row) => (
        <span className="key-name" data-depth={asTree ? depths[row.scope] : undefined}>
          {nameOf(row)} <LimitBadge row={row} />
          <small>
            {scopeWords[row.scope]}
            {row.group !== null && ` · ${row.group.name}`}
          </small>
        </span>
      ),
    },
    { id: "kind", header: t("limits.kind.title"), width: "8.5rem", cell: kindWords },
    { id: "limit", header: t("limits.limit"), cell: (row) => <LimitCell row={row} /> },
    {
      id: "used",
      header: t("limits.used"),
      width: "13rem",
      sortBy: (row) => row.used,
      cell: (row) => <Meter row={row} />,
    },
    ...(tag === ""
      ? []
      : [{ id: "by_tag", header: t("limits.tag.spend", { tag }), cell: (row: LimitUsageRow) => <ByTag row={row} /> }]),
    {
      id: "resets_at",
      header: t("limits.resets"),
      sortBy: (row) => row.resets_at,
      cell: (row) => <Resets row={row} />,
      secondary: true,
    },
    {
      id: "exhausted_at",
      header: t("limits.forecast.title"),
      sortBy: (row) => row.forecast?.exhausted_at ?? null,
      cell: (row) => <OutlookText row={row} />,
    },
  ];
}

/** The spend of a budget by the values of the chosen tag. */
function ByTag({ row: { by_tag: spends } }: { readonly row: LimitUsageRow }) {
  if (spends === null) return <Nothing />;
  if (spends.length === 0) return <span className="nothing">{t("limits.tag.none")}</span>;
  return (
    <ul className="plain-list tag-spend">
      {spends.map(({ value, usd }) => (
        <li key={value}>
          <span className="break">{rowName({ id: value, label: value }, "tag")}</span> <Money usd={usd} short />
        </li>
      ))}
    </ul>
  );
}

/** The object of the limit. */
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
