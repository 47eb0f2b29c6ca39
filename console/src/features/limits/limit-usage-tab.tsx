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
    label: t("limits.kind"),
    choices: [
      { value: "budget", label: t("limits.budgets") },
      { value: "rpm", label: t("limits.requestsPerMinute") },
      { value: "tpm", label: t("limits.tokensPerMinute") },
      { value: "concurrency", label: t("limits.atTheSameTime") },
    ],
  },
  {
    name: "scope",
    label: t("limits.of"),
    choices: [
      { value: "workspace", label: t("limits.workspaces") },
      { value: "group", label: t("limits.groups") },
      { value: "key", label: t("limits.keys") },
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
      <Stats label={t("limits.limitsInShort")}>
        <Stat label={t("limits.limitsAndBudgets")} value={summary?.all} />
        <Stat label={t("limits.n80OrMoreUsed")} value={summary?.near} />
        <Stat label={t("limits.usedUpNow")} value={summary?.full} />
        <Stat label={t("limits.budgetsThatWillNotLast")} value={summary?.short} hint={t("limits.atThePaceOfThe")} />
      </Stats>
      <FilterBar filters={filters}>
        <SearchBox label={t("limits.findByName")} placeholder={t("limits.workspaceGroupOrKey")} />
      </FilterBar>
      <DataTable
        label={t("limits.limitsAndBudgets")}
        columns={limitUsageColumns}
        rows={rowsIn(query, (answer) => chosen(answer.data, { kind, scope }))}
        rowKey={rowKey}
        name="limits"
        rowLink={linkOf}
        sortedBy="-used"
        empty={
          <EmptyState
            icon={<IconGauge />}
            title={narrowed ? t("limits.noLimitLooksLikeThat") : t("limits.noLimitsYet")}
          >
            {narrowed ? t("limits.searchForAnotherPartOf") : t("limits.giveAWorkspaceAGroup")}
          </EmptyState>
        }
      />
      {query.data?.truncated === true && (
        <Text size="sm" c="dimmed">
          {t("limits.ofTheKeysWithLimits")}
        </Text>
      )}
    </Stack>
  );
}

function rowKey(row: LimitUsageRow): string {
  return `${row.scope} ${row.scope_id} ${kindWords(row)}`;
}
