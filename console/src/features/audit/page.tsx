import { IconHistory } from "@tabler/icons-react";
import { usePages } from "../../api/use-pages.ts";
import { DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { FilterBar } from "../../components/filter-bar.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { RefreshButton } from "../../components/refresh-button.tsx";
import { SearchBox } from "../../components/search-box.tsx";
import { TimeRange } from "../../components/time-range.tsx";
import { t } from "../../language/areas/audit.ts";
import { type Search, useUrlSearch } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { useStillRange } from "../requests/use-still-range.ts";
import { actionChoices } from "./action-words.ts";
import { auditColumns, auditColumnsOfAll } from "./audit-columns.tsx";
import { AuditDrawer } from "./audit-drawer.tsx";
import { auditQueryOf, entryName } from "./audit-query.ts";

const fallbackRange = "30d";
const pageRows = 100;
const title = t("audit.list.title");

export default function AuditPage() {
  const workspace = useWorkspace();
  if (workspace.none || !workspace.may("admin")) {
    return (
      <PageFrame title={title}>
        <EmptyState icon={<IconHistory />} title={t("audit.list.onlyAdmins")}>
          {t("audit.list.onlyAdminsHelp")}
        </EmptyState>
      </PageFrame>
    );
  }
  return <AuditLog />;
}

function AuditLog() {
  const workspace = useWorkspace();
  const search = useUrlSearch();
  const span = useStillRange(fallbackRange);
  const rows = usePages("audit.list", {
    params: { workspace: workspace.path },
    query: { limit: pageRows, ...auditQueryOf(search, span) },
  });
  return (
    <PageFrame
      title={title}
      description={t("audit.list.description")}
      actions={
        <>
          <TimeRange fallback={fallbackRange} />
          <RefreshButton loading={rows.loading} onRefresh={rows.reload}>
            {t("audit.list.refresh")}
          </RefreshButton>
        </>
      }
    >
      <FilterBar
        filters={[{ name: "action", label: t("audit.actionTitle"), choices: actionChoices(search["action"] ?? "") }]}
      >
        <SearchBox label={t("audit.list.search")} placeholder={t("audit.list.searchPlaceholder")} />
      </FilterBar>
      <DataTable
        label={title}
        columns={workspace.all ? auditColumnsOfAll : auditColumns}
        rows={rows}
        rowKey={(row) => String(row.seq)}
        name="audit"
        pageSize={pageRows}
        rowLink={(row) => ({ to: "/audit", search: (before: Search) => ({ ...before, entry: entryName(row) }) })}
        empty={
          <EmptyState icon={<IconHistory />} title={t("audit.list.empty")}>
            {t("audit.list.emptyHelp")}
          </EmptyState>
        }
      />
      <AuditDrawer rows={rows.rows ?? []} />
    </PageFrame>
  );
}
