import { Box, Button, Group, SegmentedControl, Skeleton, Text } from "@mantine/core";
import { IconTable } from "@tabler/icons-react";
import { useCallback, useMemo, useState } from "react";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { LoadMore } from "../../../components/load-more.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { useUrlChange, useUrlText } from "../../../routes/search.ts";
import { AccessPanel, type AccessQuestion } from "../../access/access-panel.tsx";
import { useAccessTable } from "../../access/use-access.ts";
import { type AccessColumns, differingColumns } from "./access-columns.ts";
import { AccessLegend } from "./access-legend.tsx";
import { AccessMatrix } from "./access-matrix.tsx";

/** From this many models on, models with equal access for all keys are hidden by default. */
const allShownMax = 20;

/** Access of every key to every model, with the reason for each cell. */
export function AccessTab({ workspace }: { readonly workspace: string }) {
  const [search] = useUrlText("search");
  const [model] = useUrlText("model");
  const [key] = useUrlText("key");
  const [why] = useUrlText("why");
  const change = useUrlChange();
  const models = useModelPages(model);
  const table = useAccessTable(workspace, { search, model, modelsCursor: models.cursor });
  const ask = useCallback((question: AccessQuestion) => change({ key: question.key, why: question.model }), [change]);
  return (
    <Section title={t("workspaces.access.title")} description={t("workspaces.access.help")} flush>
      <Group justify="space-between" px="md" pb="sm" gap="sm">
        <Box flex="1 1 18rem">
          <FilterBar alsoClears={["search", "model"]}>
            <SearchBox label={t("workspaces.access.searchKeys")} placeholder={t("workspaces.access.key")} />
            <SearchBox
              label={t("workspaces.access.searchModels")}
              placeholder={t("workspaces.access.model")}
              name="model"
            />
            <ShownModels value={useShown(table.models.length)} />
          </FilterBar>
        </Box>
        <ModelPager pages={models} next={table.nextModels} />
      </Group>
      <AccessBody table={table} searched={search !== "" || model !== ""} onAsk={ask} />
      <AccessPanel
        workspace={workspace}
        question={key === "" || why === "" ? null : { key, model: why }}
        group={table.rows?.find((row) => row.id === key)?.group.id ?? null}
        onClose={() => change({ key: "", why: "" })}
      />
    </Section>
  );
}

type Shown = "all" | "different";

function useShown(models: number): Shown {
  const [urlModels] = useUrlText("models");
  if (urlModels === "all" || urlModels === "different") return urlModels;
  return models > allShownMax ? "different" : "all";
}

function ShownModels({ value }: { readonly value: Shown }) {
  const [, setAsked] = useUrlText("models");
  return (
    <SegmentedControl
      aria-label={t("workspaces.access.show")}
      data={[
        { value: "different", label: t("workspaces.access.showDifferent") },
        { value: "all", label: t("workspaces.access.showAll") },
      ]}
      value={value}
      onChange={setAsked}
    />
  );
}

interface AccessBodyProps {
  readonly table: ReturnType<typeof useAccessTable>;
  readonly searched: boolean;
  readonly onAsk: (question: AccessQuestion) => void;
}

function AccessBody({ table, searched, onAsk }: AccessBodyProps) {
  const shown = useShown(table.models.length);
  const columns = useMemo(
    () =>
      shown === "different"
        ? differingColumns(table.models, table.rows ?? [])
        : { models: table.models, rows: table.rows ?? [], hidden: 0 },
    [shown, table.models, table.rows],
  );
  if (table.rows === null) {
    return table.problem === null ? (
      <Skeleton height={260} m="md" />
    ) : (
      <ProblemAlert problem={table.problem} onRetry={table.reload} />
    );
  }
  if (table.rows.length === 0 || table.models.length === 0)
    return <NoAccess searched={searched} models={table.models.length} />;
  return (
    <>
      {table.problem !== null && <ProblemAlert problem={table.problem} onRetry={table.reload} />}
      <Text size="xs" c="dimmed" px="md" pb="xs" aria-live="polite">
        {countWords(table, columns)}
      </Text>
      {columns.models.length === 0 ? (
        <EmptyState icon={<IconTable />} title={t("workspaces.access.noDifferences")}>
          {t("workspaces.access.noDifferencesHelp")}
        </EmptyState>
      ) : (
        <AccessMatrix models={columns.models} rows={columns.rows} stale={table.stale} onAsk={onAsk} />
      )}
      <LoadMore rows={table} />
      <AccessLegend />
    </>
  );
}

/** `50 of 801 keys · 3 of 309 models · 97 models with the same access for every key are not shown.` */
function countWords(table: AccessBodyProps["table"], { models, hidden }: AccessColumns): string {
  const keys = { shown: table.rows?.length ?? 0, total: table.total ?? 0 };
  return [
    t("workspaces.access.keysShown", keys),
    t("workspaces.access.modelsShown", { shown: models.length, total: table.modelsTotal }),
    ...(hidden === 0 ? [] : [t("workspaces.access.hidden", { count: hidden })]),
  ].join(" · ");
}

interface ModelPages {
  readonly cursor: string;
  readonly first: boolean;
  readonly forth: (cursor: string) => void;
  readonly back: () => void;
}

/** The current page of models. A new search starts at the first. */
function useModelPages(search: string): ModelPages {
  const [paging, setPaging] = useState<{ readonly search: string; readonly cursors: readonly string[] }>({
    search,
    cursors: [],
  });
  const cursors = paging.search === search ? paging.cursors : [];
  return {
    cursor: cursors.at(-1) ?? "",
    first: cursors.length === 0,
    forth: (cursor) => setPaging({ search, cursors: [...cursors, cursor] }),
    back: () => setPaging({ search, cursors: cursors.slice(0, -1) }),
  };
}

function ModelPager({ pages, next }: { readonly pages: ModelPages; readonly next: string | null }) {
  if (pages.first && next === null) return null;
  return (
    <Group gap={4}>
      <Button variant="default" disabled={pages.first} onClick={pages.back}>
        {t("workspaces.access.previous")}
      </Button>
      <Button variant="default" disabled={next === null} onClick={() => next !== null && pages.forth(next)}>
        {t("workspaces.access.next")}
      </Button>
    </Group>
  );
}

function NoAccess({ searched, models }: { readonly searched: boolean; readonly models: number }) {
  if (searched) {
    return (
      <EmptyState icon={<IconTable />} title={t("workspaces.access.notFound")}>
        {t("workspaces.access.notFoundHelp")}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<IconTable />}
      title={models === 0 ? t("workspaces.access.noModels") : t("workspaces.access.noKeys")}
    >
      {models === 0 ? t("workspaces.access.noModelsHelp") : t("workspaces.access.noKeysHelp")}
    </EmptyState>
  );
}
