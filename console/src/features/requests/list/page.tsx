import { Button, Text } from "@mantine/core";
import type { RequestRow } from "@sluice/contract";
import { IconActivity, IconBroadcast } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef } from "react";
import { type Rows, usePages } from "../../../api/use-pages.ts";
import { formatMoment } from "../../../client/format.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { RefreshButton } from "../../../components/refresh-button.tsx";
import { TimeRange } from "../../../components/time-range.tsx";
import { t } from "../../../language/areas/requests.ts";
import { loadChunk } from "../../../routes/load-chunk.ts";
import { type Search, useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { RequestTabs } from "../../sessions/request-tabs.tsx";
import { useRequestColumns } from "../request-columns.tsx";
import { groupRequests, type RequestGroup } from "../request-group.ts";
import { type RequestQuery, requestQueryOf } from "../request-query.ts";
import { useStillRange } from "../use-still-range.ts";
import { ExportCsv } from "./export-csv.tsx";
import { NoRequests } from "./no-requests.tsx";
import { RequestFilters } from "./request-filters.tsx";
import { RequestPanel } from "./request-panel.tsx";
import { RequestTotals } from "./request-totals.tsx";

const LiveRequests = lazy(() => loadChunk(() => import("../../overview/live-requests.tsx")));

const fallbackRange = "24h";

export default function RequestsPage() {
  const search = useUrlSearch();
  const span = useStillRange(fallbackRange);
  const [live, setLive] = useUrlText("live");
  const query = useMemo(() => requestQueryOf(search, span), [search, span]);
  if (live === "") return <RequestList query={query} onLive={() => setLive("1")} />;
  return (
    <PageFrame title={t("requests.title")} description={t("requests.description")}>
      <div className="dense-table">
        <Suspense fallback={null}>
          <LiveRequests />
        </Suspense>
      </div>
    </PageFrame>
  );
}

const pageRows = 100;
const emptyEveryMs = 5_000;

interface RequestListProps {
  readonly query: RequestQuery;
  readonly onLive: () => void;
}

function RequestList({ query, onLive }: RequestListProps) {
  const workspace = useWorkspace();
  const search = useUrlSearch();
  const shown = search["request"] ?? "";
  const [, setSort] = useUrlText("sort", "-at");
  const rows = usePages("requests.list", {
    params: { workspace: workspace.path },
    query: { limit: pageRows, ...query },
    enabled: !workspace.none,
    // Each search of captured bodies adds an audit entry.
    ...(query.text === undefined ? { emptyEveryMs } : {}),
  });
  const groups = useGrouped(rows);
  return (
    <PageFrame
      title={t("requests.title")}
      description={t("requests.description")}
      actions={
        <>
          <TimeRange fallback={fallbackRange} />
          <Button variant="default" leftSection={<IconBroadcast size={15} aria-hidden />} onClick={onLive}>
            {t("requests.showLive")}
          </Button>
          <ExportCsv query={query} />
          <RefreshButton loading={rows.loading} onRefresh={rows.reload}>
            {t("requests.refresh")}
          </RefreshButton>
        </>
      }
    >
      <div className="request-list" data-panel={shown !== "" || undefined}>
        <RequestTabs value="requests" />
        <RequestFilters />
        <RequestTotals query={query} />
        <SearchedFrom query={query} at={rows.last?.searched_from ?? null} />
        <div className="dense-table">
          <DataTable
            name="requests"
            label={t("requests.title")}
            columns={useRequestColumns(workspace.all, shown !== "")}
            rows={groups}
            rowKey={(group) => group.requestId}
            rowLink={(group) => ({
              to: "/requests",
              search: { ...search, request: group.requestId },
              resetScroll: false,
              // Going through a list leaves one history entry.
              replace: shown !== "",
            })}
            opened={(group) => group.requestId === shown}
            // By time, the newest request is always first.
            order={{ by: query.sort ?? "-at", onChange: (by) => setSort(by === "at" ? "" : by) }}
            empty={<NoRequests icon={<IconActivity />} />}
          />
        </div>
      </div>
      {shown !== "" && <Panel groups={groups} shown={shown} />}
    </PageFrame>
  );
}

interface PanelProps {
  readonly groups: Rows<RequestGroup>;
  /** The id of a request, possibly not in the list. */
  readonly shown: string;
}

function Panel({ groups: { rows, more }, shown }: PanelProps) {
  const navigate = useNavigate();
  const open = (request: string) => {
    const search = (before: Search) => ({ ...before, request });
    void navigate({ to: ".", search, replace: true, resetScroll: false });
  };
  const place = rows?.findIndex((group) => group.requestId === shown) ?? -1;
  const at = (index: number) => (place === -1 ? undefined : rows?.[index]?.requestId);
  const walked = useRef("");
  const step = (request: string | undefined) => {
    if (request === undefined) return null;
    return () => {
      walked.current = request;
      open(request);
    };
  };
  useEffect(() => {
    // The focus follows, so that the row is visible and Tab continues there.
    if (walked.current === shown) document.querySelector<HTMLElement>("tr[data-opened] .row-link")?.focus();
  }, [shown]);
  const next = at(place + 1);
  // The last row loads the next page, so that the walk continues.
  const isLast = place !== -1 && next === undefined;
  useEffect(() => {
    if (isLast) more?.();
  }, [isLast, more]);
  return <RequestPanel request={shown} onPrevious={step(at(place - 1))} onNext={step(next)} onClose={() => open("")} />;
}

/** A search that ended at its time limit. Lists by time continue as they are scrolled. */
function SearchedFrom({ query, at }: { readonly query: RequestQuery; readonly at: number | null }) {
  if (at === null || (query.sort === undefined && query.text === undefined)) return null;
  const words = { when: formatMoment(at) };
  return (
    <Text fz="sm" c="dimmed" role="status">
      {query.text === undefined ? t("requests.sortedSince", words) : t("requests.textSince", words)}
    </Text>
  );
}

function useGrouped(rows: Rows<RequestRow>): Rows<RequestGroup> {
  const groups = useMemo(() => (rows.rows === null ? null : groupRequests(rows.rows)), [rows.rows]);
  return { ...rows, rows: groups };
}
