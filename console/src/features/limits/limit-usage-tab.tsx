import { Stack, Text } from "@mantine/core";
import type { LimitUsageRow, QueryInput } from "@sluice/contract";
import { limitedObjects, limitKinds, limitSorts, limitStates } from "@sluice/contract/words";
import { IconGauge } from "@tabler/icons-react";
import { useMemo } from "react";
import { usePages } from "../../api/use-pages.ts";
import { DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { type Filter, FilterBar } from "../../components/filter-bar.tsx";
import { SearchBox } from "../../components/search-box.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { t } from "../../language/areas/limits.ts";
import { useUrlChange, useUrlSearch } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { TagSelect, TagValueSelect } from "../usage/tag-select.tsx";
import { objectIn } from "./limit-link.ts";
import { limitUsageColumns, linkOf } from "./limit-usage-columns.tsx";
import { kindWords } from "./limit-usage-words.ts";

const refreshMs = 10_000;
const pageSize = 50;

const filters: readonly Filter[] = [
  {
    name: "kind",
    label: t("limits.kind.title"),
    choices: [
      { value: "budget", label: t("limits.kind.budgets") },
      { value: "rpm", label: t("limits.kind.rpm") },
      { value: "tpm", label: t("limits.kind.tpm") },
      { value: "concurrency", label: t("limits.kind.concurrency") },
    ],
  },
  {
    name: "scope",
    label: t("limits.scope.title"),
    choices: [
      { value: "workspace", label: t("limits.scope.workspaces") },
      { value: "group", label: t("limits.scope.groups") },
      { value: "person", label: t("limits.scope.people") },
      { value: "key", label: t("limits.scope.keys") },
    ],
  },
];

const cards = [
  { state: undefined, label: t("limits.usage.all"), hint: undefined },
  { state: "at_risk", label: t("limits.usage.near"), hint: t("limits.usage.nearHelp") },
  { state: "exhausted", label: t("limits.usage.exhausted"), hint: t("limits.usage.exhaustedHelp") },
  { state: "running_out", label: t("limits.usage.short"), hint: t("limits.usage.shortHelp") },
] as const;

/** Limits as a tree of workspaces, people, groups and keys; the cards above filter it. */
export function LimitUsageTab() {
  const workspace = useWorkspace();
  const search = useUrlSearch();
  const change = useUrlChange();
  const { state, sort, tagged, ...which } = useLimitQuery();
  const rows = usePages("limits.list", {
    params: { workspace: workspace.path },
    query: { ...which, ...tagged, sort, ...state, limit: pageSize },
    enabled: !workspace.none,
    everyMs: refreshMs,
  });
  const { tag = "", tag_value: value = "" } = search;
  const narrowed = Object.keys(which).length > 0 || state.state !== undefined;
  const columns = useMemo(() => limitUsageColumns(sort === "place", tag), [sort, tag]);
  return (
    <Stack gap="lg">
      <Stats label={t("limits.usage.summary")}>
        {cards.map((card) => (
          <Stat
            key={card.label}
            label={card.label}
            value={rows.last?.counts[card.state ?? "all"]}
            hint={card.hint}
            filter={{
              active: state.state === card.state,
              onToggle: () => change({ state: state.state === card.state ? "" : (card.state ?? ""), sort: "" }),
            }}
          />
        ))}
      </Stats>
      <FilterBar filters={filters} alsoClears={["search", "object", "edit", "to", "tag", "tag_value"]}>
        <SearchBox label={t("limits.usage.search")} placeholder={t("limits.usage.searchPlaceholder")} />
        <TagSelect
          inBar
          clearable
          label={t("limits.tag.choose")}
          value={tag}
          onChange={(next) => change({ tag: next, tag_value: "" })}
        />
        {tag !== "" && (
          <TagValueSelect
            inBar
            label={t("limits.tag.value")}
            tag={tag}
            value={value}
            onChange={(next) => change({ tag_value: next })}
          />
        )}
      </FilterBar>
      {objectIn(search) !== null && (
        <Text size="sm" c="dimmed">
          {t("limits.usage.onlyOne")}
        </Text>
      )}
      <DataTable
        label={t("limits.title")}
        columns={columns}
        rows={rows}
        rowKey={rowKey}
        name="limits"
        rowLink={linkOf}
        order={{ by: sort, onChange: (by) => change({ sort: by }) }}
        empty={
          <EmptyState icon={<IconGauge />} title={narrowed ? t("limits.usage.notFound") : t("limits.usage.empty")}>
            {narrowed ? t("limits.usage.notFoundHelp") : t("limits.usage.emptyHelp")}
          </EmptyState>
        }
      />
      {rows.last?.truncated === true && (
        <Text size="sm" c="dimmed">
          {t("limits.usage.truncated")}
        </Text>
      )}
    </Stack>
  );
}

/** The query in the URL. Unknown values are ignored. Limits in one state are ordered by their use, others by place. */
function useLimitQuery() {
  const search = useUrlSearch();
  const { kind, scope, state, sort } = search;
  const wanted = limitStates.find((each) => each === state);
  return {
    ...named("search", search["search"]),
    ...named(
      "kind",
      limitKinds.find((each) => each === kind),
    ),
    ...named(
      "scope",
      limitedObjects.find((each) => each === scope),
    ),
    ...objectIn(search),
    tagged: search["tag"] ? { tag: search["tag"], ...named("tag_value", search["tag_value"]) } : {},
    state: named("state", wanted),
    sort: limitSorts.find((each) => each === sort) ?? (wanted === undefined ? "place" : "-used"),
  } satisfies Omit<QueryInput<"limits.list">, "state"> & { readonly state: object; readonly tagged: object };
}

function named<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [Key in Name]?: Value } {
  return (value === undefined || value === "" ? {} : { [name]: value }) as { readonly [Key in Name]?: Value };
}

function rowKey(row: LimitUsageRow): string {
  return `${row.scope} ${row.scope_id} ${kindWords(row)}`;
}
