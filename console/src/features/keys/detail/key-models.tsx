import { Button } from "@mantine/core";
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

/** Every model, whether the key may call it, and why not. */
export function KeyModels({ item }: { readonly item: ConsoleKey }) {
  const [part] = useUrlText("find");
  const [model, setModel] = useUrlText("why");
  const rows = useKeyModels(item.workspace.slug, item.id, part);
  const columns = useMemo(() => columnsWith(setModel), [setModel]);
  const callable = rows.rows?.filter((row) => row.reason === "yes").length ?? 0;
  return (
    <Section
      title={t("keys.models")}
      description={
        rows.rows === null || part !== "" || rows.more !== null
          ? t("keys.whatTheKeyMayCall")
          : t("keys.itMayCallOfBy", { callable, length: rows.rows.length })
      }
      actions={
        <FilterBar alsoClears={["find"]}>
          <SearchBox label={t("keys.findAModel")} name="find" />
        </FilterBar>
      }
      flush
    >
      <DataTable
        label={t("keys.modelsAndWhetherTheKey")}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.name}
        pageSize={20}
        dimmed={(row) => row.reason !== "yes"}
        empty={
          <EmptyState icon={<IconBox />} title={part === "" ? t("keys.noModels") : t("keys.noModelIsCalledThat")}>
            {part === "" ? t("keys.thereIsNoModelIn") : t("keys.searchForAnotherPartOf")}
          </EmptyState>
        }
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

function columnsWith(ask: (model: string) => void): readonly Column<ModelAccess>[] {
  return [
    { id: "name", header: t("keys.model"), sortBy: (row) => row.name, cell: (row) => row.name },
    { id: "type", header: t("keys.type"), sortBy: (row) => row.type, cell: (row) => row.type },
    {
      id: "reason",
      header: t("keys.mayCall"),
      sortBy: (row) => (row.reason === "yes" ? "" : row.reason),
      cell: (row) => <ReasonBadge reason={row.reason} />,
    },
    {
      id: "why",
      header: t("keys.why"),
      quiet: true,
      cell: (row) => (
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={
            row.reason === "yes" ? t("keys.whyItMayCall", { name: row.name }) : t("keys.whyNot", { name: row.name })
          }
          onClick={() => ask(row.name)}
        >
          {row.reason === "yes" ? t("keys.why") : t("keys.whyNot2")}
        </Button>
      ),
    },
  ];
}
