import { Box, Button, Group, Skeleton } from "@mantine/core";
import { IconTable } from "@tabler/icons-react";
import { useState } from "react";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { LoadMore } from "../../../components/load-more.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { useUrlChange, useUrlText } from "../../../routes/search.ts";
import { AccessPanel } from "../../access/access-panel.tsx";
import { useAccessTable } from "../../access/use-access.ts";
import { AccessLegend } from "./access-legend.tsx";
import { AccessMatrix } from "./access-matrix.tsx";

/** Who may call what: every key by every model, and the reason behind each cell. */
export function AccessTab({ workspace }: { readonly workspace: string }) {
  const [search] = useUrlText("search");
  const [model] = useUrlText("model");
  const [key] = useUrlText("key");
  const [why] = useUrlText("why");
  const change = useUrlChange();
  const models = useModelPages(model);
  const table = useAccessTable(workspace, { search, model, modelsCursor: models.cursor });
  const searched = search !== "" || model !== "";
  const none = table.rows !== null && (table.rows.length === 0 || table.models.length === 0);
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
          </FilterBar>
        </Box>
        <ModelPager pages={models} next={table.nextModels} />
      </Group>
      {table.problem !== null && <ProblemAlert problem={table.problem} onRetry={table.reload} />}
      {none ? (
        <NoAccess searched={searched} models={table.models.length} />
      ) : table.rows === null ? (
        table.problem === null && <Skeleton height={260} m="md" />
      ) : (
        <>
          <AccessMatrix
            models={table.models}
            rows={table.rows}
            stale={table.stale}
            onAsk={(question) => change({ key: question.key, why: question.model })}
          />
          <LoadMore rows={table} />
          <AccessLegend />
        </>
      )}
      <AccessPanel
        workspace={workspace}
        question={key === "" || why === "" ? null : { key, model: why }}
        group={table.rows?.find((row) => row.id === key)?.group.id ?? null}
        onClose={() => change({ key: "", why: "" })}
      />
    </Section>
  );
}

interface ModelPages {
  readonly cursor: string;
  readonly first: boolean;
  readonly forth: (cursor: string) => void;
  readonly back: () => void;
}

/** Which page of models is looked at. Another search begins at the first. */
function useModelPages(search: string): ModelPages {
  const [kept, setKept] = useState<{ readonly search: string; readonly cursors: readonly string[] }>({
    search,
    cursors: [],
  });
  const cursors = kept.search === search ? kept.cursors : [];
  return {
    cursor: cursors.at(-1) ?? "",
    first: cursors.length === 0,
    forth: (cursor) => setKept({ search, cursors: [...cursors, cursor] }),
    back: () => setKept({ search, cursors: cursors.slice(0, -1) }),
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
