import { Stack, Text } from "@mantine/core";
import type { LimitUsageRow } from "@sluice/contract";
import { IconGauge } from "@tabler/icons-react";
import { useCall } from "../../api/use-call.ts";
import { DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { type Filter, FilterBar } from "../../components/filter-bar.tsx";
import { rowsIn } from "../../components/rows.ts";
import { SearchBox } from "../../components/search-box.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { t } from "../../language/areas/limits.ts";
import { useUrlSearch } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { chosen, summaryOf } from "./limit-usage-choice.ts";
import { limitUsageColumns, linkOf } from "./limit-usage-columns.tsx";
import { kindWords } from "./limit-usage-words.ts";

const refreshMs = 10_000;

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

export function LimitUsageTab() {
  const workspace = useWorkspace();
  const { search = "", kind, scope } = useUrlSearch();
  const query = useCall("limits.list", {
    params: { workspace: workspace.path },
    query: search === "" ? {} : { search },
    everyMs: refreshMs,
    keepBefore: true,
    enabled: !workspace.none,
  });
  const summary = query.data === undefined ? undefined : summaryOf(query.data.data);
  const narrowed = search !== "" || kind !== undefined || scope !== undefined;
  return (
    <Stack gap="lg">
      <Stats label={t("limits.usage.summary")}>
        <Stat label={t("limits.title")} value={summary?.all} />
        <Stat label={t("limits.usage.near")} value={summary?.near} />
        <Stat
          label={t("limits.usage.exhausted")}
          value={summary?.exhausted}
          hint={(summary?.exhausted ?? 0) > 0 && t("limits.usage.exhaustedHelp")}
        />
        <Stat label={t("limits.usage.short")} value={summary?.short} hint={t("limits.usage.shortHelp")} />
      </Stats>
      <FilterBar filters={filters}>
        <SearchBox label={t("limits.usage.search")} placeholder={t("limits.usage.searchPlaceholder")} />
      </FilterBar>
      <DataTable
        label={t("limits.title")}
        columns={limitUsageColumns}
        rows={rowsIn(query, (answer) => chosen(answer.data, { kind, scope }))}
        rowKey={rowKey}
        name="limits"
        pageSize={50}
        rowLink={linkOf}
        sortedBy="-used"
        empty={
          <EmptyState icon={<IconGauge />} title={narrowed ? t("limits.usage.notFound") : t("limits.usage.empty")}>
            {narrowed ? t("limits.usage.notFoundHelp") : t("limits.usage.emptyHelp")}
          </EmptyState>
        }
      />
      {query.data?.truncated === true && (
        <Text size="sm" c="dimmed">
          {t("limits.usage.truncated")}
        </Text>
      )}
    </Stack>
  );
}

function rowKey(row: LimitUsageRow): string {
  return `${row.scope} ${row.scope_id} ${kindWords(row)}`;
}
