import { batchStates } from "@sluice/contract";
import { useEffect, useState } from "react";
import { usePages } from "../../../api/use-pages.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { stateWords } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/batches.ts";
import { useUrlSearch } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import "../../../styles/media.css";
import { KeyFilter } from "../../requests/list/key-filter.tsx";
import { ModelFilter } from "../../requests/list/model-filter.tsx";
import { PersonFilter } from "../../requests/list/person-filter.tsx";
import { isOpen } from "../batch-progress.tsx";
import { batchColumns, batchColumnsOfAll } from "./batch-columns.tsx";
import { batchFilters, batchQueryOf } from "./batch-query.ts";
import { NoBatches } from "./no-batches.tsx";

const liveMs = 3_000;
const quietMs = 20_000;
const pageRows = 50;

/** Batches, newest first, with the progress of their rows. */
export default function BatchesPage() {
  const workspace = useWorkspace();
  const search = useUrlSearch();
  const [live, setLive] = useState(false);
  const rows = usePages("batches.list", {
    params: { workspace: workspace.path },
    query: { limit: pageRows, ...batchQueryOf(search) },
    enabled: !workspace.none,
    // Also when all have ended: a program may create one at any time.
    everyMs: live ? liveMs : quietMs,
  });
  const running = rows.rows?.some(isOpen) === true;
  useEffect(() => setLive(running), [running]);
  return (
    <PageFrame title={t("batches.title")} description={t("batches.help")}>
      <FilterBar
        filters={[
          {
            name: "state",
            label: t("batches.state"),
            choices: [
              { value: "open", label: t("batches.open") },
              ...batchStates.map((value) => ({ value, label: stateWords(value) })),
            ],
          },
        ]}
        alsoClears={batchFilters.filter((name) => name !== "state")}
      >
        <ModelFilter />
        <KeyFilter />
        <PersonFilter />
      </FilterBar>
      <DataTable
        label={t("batches.title")}
        columns={workspace.all ? batchColumnsOfAll : batchColumns}
        rows={rows}
        rowKey={(batch) => batch.id}
        name="batches"
        pageSize={pageRows}
        rowLink={(batch) => ({
          to: "/batches/$batch",
          params: { batch: batch.id },
          search: { workspace: batch.workspace.slug },
        })}
        empty={<NoBatches />}
      />
    </PageFrame>
  );
}
