import type { RequestRow } from "@sluice/contract";
import { IconActivity } from "@tabler/icons-react";
import { useMemo } from "react";
import { type Rows, usePages } from "../../../api/use-pages.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { RefreshButton } from "../../../components/refresh-button.tsx";
import { TimeRange } from "../../../components/time-range.tsx";
import { t } from "../../../language/areas/requests.ts";
import { useUrlSearch } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { RequestTabs } from "../../sessions/request-tabs.tsx";
import { useRequestColumns } from "../request-columns.tsx";
import { groupRequests, type RequestGroup } from "../request-group.ts";
import { requestQueryOf } from "../request-query.ts";
import { useStillRange } from "../use-still-range.ts";
import { NoRequests } from "./no-requests.tsx";
import { RequestFilters } from "./request-filters.tsx";

const fallbackRange = "24h";
const pageRows = 100;
const emptyEveryMs = 5_000;

export default function RequestsPage() {
  const workspace = useWorkspace();
  const search = useUrlSearch();
  const span = useStillRange(fallbackRange);
  const rows = usePages("requests.list", {
    params: { workspace: workspace.path },
    query: { limit: pageRows, ...requestQueryOf(search, span) },
    enabled: !workspace.none,
    emptyEveryMs,
  });
  return (
    <PageFrame
      title={t("requests.title")}
      description={t("requests.description")}
      actions={
        <>
          <TimeRange fallback={fallbackRange} />
          <RefreshButton loading={rows.loading} onRefresh={rows.reload}>
            {t("requests.refresh")}
          </RefreshButton>
        </>
      }
    >
      <RequestTabs value="requests" />
      <RequestFilters />
      <DataTable
        name="requests"
        label={t("requests.title")}
        columns={useRequestColumns(workspace.all)}
        rows={useGrouped(rows)}
        rowKey={(group) => group.requestId}
        rowLink={(group) => ({ to: "/requests/$request", params: { request: group.requestId }, search: linkSearch })}
        empty={<NoRequests icon={<IconActivity />} />}
      />
    </PageFrame>
  );
}

/** A request has its own page. Its URL does not contain the filters. */
const linkSearch = {};

function useGrouped(rows: Rows<RequestRow>): Rows<RequestGroup> {
  const groups = useMemo(() => (rows.rows === null ? null : groupRequests(rows.rows)), [rows.rows]);
  return { ...rows, rows: groups };
}
