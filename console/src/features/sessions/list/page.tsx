import { Alert, Button } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { IconAlertTriangle, IconDownload, IconMessages } from "@tabler/icons-react";
import { useCall } from "../../../api/use-call.ts";
import { usePages } from "../../../api/use-pages.ts";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Count, Money, Share } from "../../../components/figures.tsx";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { RefreshButton } from "../../../components/refresh-button.tsx";
import { SearchBox } from "../../../components/search-box.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { TimeRange } from "../../../components/time-range.tsx";
import { t } from "../../../language/areas/sessions.ts";
import { useUrlSearch, useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { ChoiceFilter } from "../../requests/list/choice-filter.tsx";
import { KeyFilter } from "../../requests/list/key-filter.tsx";
import { ModelFilter } from "../../requests/list/model-filter.tsx";
import { PersonFilter } from "../../requests/list/person-filter.tsx";
import { useStillRange } from "../../requests/use-still-range.ts";
import { RequestTabs } from "../request-tabs.tsx";
import { sessionLink } from "../session-words.tsx";
import { sessionColumns, sessionColumnsOfAll } from "./session-columns.tsx";
import { sessionFilters, sessionQueryOf, usualOrder } from "./session-query.ts";
import { useSaveSessions } from "./use-save-sessions.ts";

const fallbackRange = "7d";
const pageRows = 100;

/** Requests of one conversation of an agent as one row. */
export default function SessionsPage() {
  const workspace = useWorkspace();
  const search = useUrlSearch();
  const query = sessionQueryOf(search, useStillRange(fallbackRange));
  const params = { workspace: workspace.path };
  const rows = usePages("sessions.list", {
    params,
    query: { limit: pageRows, ...query },
    enabled: !workspace.none,
  });
  const save = useSaveSessions({ params, query });
  const [, setOrder] = useUrlText("order", usualOrder);
  const { from, to } = query;
  const agents = useCall("sessions.agents", {
    params,
    query: { from, ...(to === undefined ? {} : { to }) },
    enabled: !workspace.none,
    keepBefore: true,
  });
  const isFiltered = sessionFilters.some((name) => (search[name] ?? "") !== "");
  return (
    <PageFrame
      title={t("sessions.title")}
      description={t("sessions.description")}
      actions={
        <>
          <TimeRange fallback={fallbackRange} />
          <RefreshButton loading={rows.loading} onRefresh={rows.reload}>
            {t("sessions.refresh")}
          </RefreshButton>
          <Button
            variant="default"
            leftSection={<IconDownload size={15} aria-hidden />}
            loading={save.isPending}
            disabled={rows.rows === null || rows.rows.length === 0}
            onClick={() => save.mutate()}
          >
            {t("sessions.save")}
          </Button>
        </>
      }
    >
      <RequestTabs value="sessions" />
      <FilterBar alsoClears={sessionFilters}>
        <SearchBox label={t("sessions.search")} placeholder={t("sessions.searchHint")} />
        <ChoiceFilter
          name="agent"
          label={t("sessions.agent")}
          choices={(agents.data?.data ?? []).map(({ agent }) => ({ value: agent, label: agent }))}
        />
        <ModelFilter />
        <KeyFilter />
        <PersonFilter />
      </FilterBar>
      {save.error !== null && <ProblemAlert problem={save.error} />}
      <Totals list={rows.last} />
      <DataTable
        name="sessions"
        label={t("sessions.title")}
        columns={workspace.all ? sessionColumnsOfAll : sessionColumns}
        rows={rows}
        rowKey={(row) => `${row.key.id} ${row.session}`}
        rowLink={sessionLink}
        order={{ by: query.sort ?? usualOrder, onChange: setOrder }}
        empty={
          <EmptyState
            icon={<IconMessages />}
            title={isFiltered ? t("sessions.empty.filtered") : t("sessions.empty.title")}
          >
            {isFiltered ? t("sessions.empty.filteredHelp") : t("sessions.empty.help")}
          </EmptyState>
        }
      />
    </PageFrame>
  );
}

/** Figures of all pages of the list. */
function Totals({ list }: { readonly list: AnswerOf<"sessions.list"> | null }) {
  const totals = list?.totals;
  if (totals?.sessions === 0) return null;
  return (
    <>
      {list?.truncated === true && (
        <Alert variant="light" color="yellow" icon={<IconAlertTriangle size={16} />}>
          {t("sessions.truncated")}
        </Alert>
      )}
      <Stats label={t("sessions.totals")}>
        <Stat label={t("sessions.title")} value={totals && <Count value={totals.sessions} />} />
        <Stat label={t("sessions.columns.turns")} value={totals && <Count value={totals.turns} />} />
        <Stat label={t("sessions.columns.errors")} value={totals && <Count value={totals.errors} />} />
        <Stat label={t("sessions.columns.cacheReads")} value={totals && <Share share={totals.cache_read_share} />} />
        <Stat label={t("sessions.columns.cost")} value={totals && <Money usd={totals.cost_usd} short />} />
      </Stats>
    </>
  );
}
