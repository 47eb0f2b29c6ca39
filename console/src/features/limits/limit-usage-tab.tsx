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
import { useUrlSearch } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { chosen, summaryOf } from "./limit-usage-choice.ts";
import { limitUsageColumns, linkOf } from "./limit-usage-columns.tsx";
import { kindWords } from "./limit-usage-words.ts";

const refreshMs = 10_000;

const filters: readonly Filter[] = [
  {
    name: "kind",
    label: "Kind",
    choices: [
      { value: "budget", label: "Budgets" },
      { value: "rpm", label: "Requests per minute" },
      { value: "tpm", label: "Tokens per minute" },
      { value: "concurrency", label: "At the same time" },
    ],
  },
  {
    name: "scope",
    label: "Of",
    choices: [
      { value: "workspace", label: "Workspaces" },
      { value: "group", label: "Groups" },
      { value: "key", label: "Keys" },
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
      <Stats label="Limits in short">
        <Stat label="Limits and budgets" value={summary?.all} />
        <Stat label="80 % or more used" value={summary?.near} />
        <Stat label="Used up now" value={summary?.full} />
        <Stat label="Budgets that will not last" value={summary?.short} hint="at the pace of the last seven days" />
      </Stats>
      <FilterBar filters={filters}>
        <SearchBox label="Find by name" placeholder="Workspace, group or key" />
      </FilterBar>
      <DataTable
        label="Limits and budgets"
        columns={limitUsageColumns}
        rows={rowsIn(query, (answer) => chosen(answer.data, { kind, scope }))}
        rowKey={rowKey}
        rowLink={linkOf}
        sortedBy="-used"
        empty={
          <EmptyState icon={<IconGauge />} title={narrowed ? "No limit looks like that" : "No limits yet"}>
            {narrowed
              ? "Search for another part of a name, or clear the filters."
              : "Give a workspace, a group or a key a limit or a budget, and it shows here how far it is used. Nothing is bounded until then."}
          </EmptyState>
        }
      />
      {query.data?.truncated === true && (
        <Text size="sm" c="dimmed">
          Of the keys with limits only the first 200 are shown. Search to find others.
        </Text>
      )}
    </Stack>
  );
}

function rowKey(row: LimitUsageRow): string {
  return `${row.scope} ${row.scope_id} ${kindWords(row)}`;
}
