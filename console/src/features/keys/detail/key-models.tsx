import { Button, SegmentedControl } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { IconBox } from "@tabler/icons-react";
import { useMemo } from "react";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useUrlText } from "../../../routes/search.ts";
import { AccessPanel } from "../../access/access-panel.tsx";
import { ReasonBadge } from "../../access/reason-badge.tsx";
import { type ModelAccess, useKeyModels } from "../../access/use-access.ts";
import { isModelType, typeWords } from "../../catalog/price-words.ts";

/** Every model, whether the key may call it, and why not. */
export function KeyModels({ item }: { readonly item: ConsoleKey }) {
  const [part] = useUrlText("find");
  const [model, setModel] = useUrlText("why");
  const first = useKeyModels(item.workspace.slug, item.id, { part });
  const [asked] = useUrlText("allowed");
  const columns = useMemo(() => columnsWith(setModel), [setModel]);
  const all = first.rows;
  const count = all?.filter((row) => row.reason === "yes").length ?? 0;
  const shown = asked === "" ? differing(all ?? []) : asked;
  const callable = callableOf(shown);
  // With more models than are loaded, the gateway filters.
  const open = first.more !== null;
  const found = useKeyModels(item.workspace.slug, item.id, { part, callable, enabled: open && callable !== null });
  const here = useMemo(() => all?.filter((row) => isShown(row, shown)) ?? null, [all, shown]);
  const rows = open && callable !== null ? found : { ...first, rows: here };
  return (
    <Section
      title={t("keys.models.title")}
      description={
        all === null || part !== "" || open
          ? t("keys.models.help")
          : t("keys.models.count", { callable: count, total: all.length })
      }
      actions={
        <FilterBar alsoClears={["find"]}>
          <SearchBox label={t("keys.models.search")} name="find" />
          <ShownModels value={shown} />
        </FilterBar>
      }
      flush
    >
      <DataTable
        label={t("keys.models.table")}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.name}
        pageSize={20}
        dimmed={(row) => row.reason !== "yes"}
        empty={<NoModels searched={part !== ""} some={(all?.length ?? 0) > 0} shown={shown} />}
      />
      <AccessPanel
        workspace={item.workspace.slug}
        question={model === "" ? null : { key: item.id, model }}
        group={item.group.id}
        onClose={() => setModel("")}
      />
    </Section>
  );
}

/** Which models to show: all if there are few, otherwise the models that differ from the majority. */
function differing(rows: readonly ModelAccess[]): string {
  if (rows.length <= allShownMax) return "all";
  const callable = rows.filter((row) => row.reason === "yes").length;
  return callable * 2 > rows.length ? "no" : "yes";
}

const allShownMax = 20;

function callableOf(shown: string): "true" | "false" | null {
  return shown === "yes" ? "true" : shown === "no" ? "false" : null;
}

function isShown(row: ModelAccess, shown: string): boolean {
  return shown === "yes" || shown === "no" ? (row.reason === "yes") === (shown === "yes") : true;
}

function ShownModels({ value }: { readonly value: string }) {
  const [, setAsked] = useUrlText("allowed");
  return (
    <SegmentedControl
      aria-label={t("keys.models.show")}
      data={[
        { value: "yes", label: t("keys.models.showAllowed") },
        { value: "no", label: t("keys.models.showDenied") },
        { value: "all", label: t("keys.models.showAll") },
      ]}
      value={value === "yes" || value === "no" ? value : "all"}
      onChange={setAsked}
    />
  );
}

interface NoModelsProps {
  readonly searched: boolean;
  /** Whether some models are not shown. */
  readonly some: boolean;
  readonly shown: string;
}

function NoModels({ searched, some, shown }: NoModelsProps) {
  const [title, help] = searched
    ? [t("keys.models.notFound"), t("keys.models.notFoundHelp")]
    : !some
      ? [t("keys.models.empty"), t("keys.models.emptyHelp")]
      : shown === "no"
        ? [t("keys.models.allAllowed"), t("keys.models.allAllowedHelp")]
        : [t("keys.models.noneAllowed"), t("keys.models.noneAllowedHelp")];
  return (
    <EmptyState icon={<IconBox />} title={title}>
      {help}
    </EmptyState>
  );
}

function columnsWith(ask: (model: string) => void): readonly Column<ModelAccess>[] {
  return [
    { id: "name", header: t("keys.models.model"), sortBy: (row) => row.name, cell: (row) => row.name },
    {
      id: "type",
      header: t("keys.models.type"),
      sortBy: (row) => row.type,
      cell: (row) => (isModelType(row.type) ? typeWords[row.type] : row.type),
    },
    {
      id: "reason",
      header: t("keys.models.access"),
      sortBy: (row) => (row.reason === "yes" ? "" : row.reason),
      cell: (row) => <ReasonBadge reason={row.reason} />,
    },
    {
      id: "why",
      header: t("keys.models.why"),
      quiet: true,
      cell: (row) => (
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={
            row.reason === "yes"
              ? t("keys.models.whyAllowed", { name: row.name })
              : t("keys.models.whyDenied", { name: row.name })
          }
          onClick={() => ask(row.name)}
        >
          {row.reason === "yes" ? t("keys.models.why") : t("keys.models.whyNot")}
        </Button>
      ),
    },
  ];
}
