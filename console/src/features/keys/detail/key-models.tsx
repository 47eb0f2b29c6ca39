import { Button } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { IconBox } from "@tabler/icons-react";
import { useMemo } from "react";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { Section } from "../../../components/section.tsx";
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
      title="Models"
      description={
        rows.rows === null || part !== "" || rows.more !== null
          ? "What the key may call, by workspace, group and key together."
          : `It may call ${callable} of ${rows.rows.length}, by workspace, group and key together.`
      }
      actions={
        <FilterBar alsoClears={["find"]}>
          <SearchBox label="Find a model" name="find" />
        </FilterBar>
      }
      flush
    >
      <DataTable
        label="Models and whether the key may call them"
        columns={columns}
        rows={rows}
        rowKey={(row) => row.name}
        pageSize={20}
        dimmed={(row) => row.reason !== "yes"}
        empty={
          <EmptyState icon={<IconBox />} title={part === "" ? "No models" : "No model is called that"}>
            {part === "" ? "There is no model in this workspace yet." : "Search for another part of a name."}
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
    { id: "name", header: "Model", sortBy: (row) => row.name, cell: (row) => row.name },
    { id: "type", header: "Type", sortBy: (row) => row.type, cell: (row) => row.type },
    {
      id: "reason",
      header: "May call",
      sortBy: (row) => (row.reason === "yes" ? "" : row.reason),
      cell: (row) => <ReasonBadge reason={row.reason} />,
    },
    {
      id: "why",
      header: "Why",
      quiet: true,
      cell: (row) => (
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={row.reason === "yes" ? `Why it may call ${row.name}` : `Why not: ${row.name}`}
          onClick={() => ask(row.name)}
        >
          {row.reason === "yes" ? "Why" : "Why not"}
        </Button>
      ),
    },
  ];
}
