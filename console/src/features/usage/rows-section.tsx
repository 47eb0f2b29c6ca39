import { Button, Group } from "@mantine/core";
import { type AnswerOf, type QueryInput, usageCsvPath } from "@sluice/contract";
import { IconChartBar, IconDownload } from "@tabler/icons-react";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useMemo } from "react";
import { usePages } from "../../api/use-pages.ts";
import { formatShare } from "../../client/format.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Count, Duration, Money, Nothing, Share } from "../../components/figures.tsx";
import { SearchBox } from "../../components/search-box.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/usage.ts";
import { type Search, useUrlChange, useUrlSearch } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { errorRateOf } from "./measures.ts";
import { rowName } from "./row-names.ts";
import { drillDown, filterFor, type RowDimension, spanSearch, type UsageView } from "./usage-view.ts";
import { useUsageTotals } from "./use-usage-series.ts";

type Row = AnswerOf<"usage.rows">["data"][number];

const pageRows = 50;
const hourMs = 3_600_000;

/** The columns of the table as columns of the CSV. */
const csvColumns = [
  ...["cost_usd", "share", "previous_cost_usd", "requests", "failed_requests", "error_rate", "tokens"],
  ...["input_tokens", "cached_tokens", "cache_read_share", "cache_write_tokens", "output_tokens"],
  ...["reasoning_tokens", "reasoning_share", "cache_saved_usd"],
  ...["request_latency_p50_ms", "request_latency_p95_ms"],
].join();

/** All values of the dimension, sorted and searched by the gateway. */
export function RowsSection({ view, by }: { readonly view: UsageView; readonly by: RowDimension }) {
  const { path, may } = useWorkspace();
  const change = useUrlChange();
  const search = useUrlSearch();
  const text = search["search"] ?? "";
  // Sums cover whole hours, so the list stays stable while it is read.
  const query: QueryInput<"usage.rows"> = {
    ...view.query,
    from: Math.floor(view.span.from / hourMs) * hourMs,
    to: Math.ceil(view.span.to / hourMs) * hourMs,
    by,
    sort: view.sort,
    compare: "true",
    ...(text === "" ? {} : { search: text }),
  };
  const rows = usePages("usage.rows", { params: { workspace: path }, query: { ...query, limit: pageRows } });
  const whole = useUsageTotals(view).data?.totals.cost_usd;
  const { span } = view;
  const columns = useMemo(
    () => columnsOf(by, whole ?? 0, { ...search, ...spanSearch(span) }),
    [by, whole, search, span],
  );
  const file = `${usageCsvPath(path)}?${new URLSearchParams(
    Object.entries({ ...query, columns: csvColumns }).map(([name, value]): [string, string] => [name, String(value)]),
  )}`;
  return (
    <Section
      flush
      id="usage-rows"
      title={t("usage.rows.title")}
      description={
        <>
          {t("usage.rows.help")} {(by === "person" || by === "key") && !may("admin") && t("usage.rows.hidden")}
        </>
      }
      actions={
        <Button variant="default" component="a" href={file} download leftSection={<IconDownload size={15} />}>
          {t("usage.rows.export")}
        </Button>
      }
    >
      <Group px="md" pb="sm">
        <SearchBox label={t("usage.rows.search")} />
      </Group>
      <DataTable
        name={`usage-${by}`}
        label={t("usage.rows.title")}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.id}
        pageSize={pageRows}
        order={{ by: view.sort, onChange: (order) => change({ order }) }}
        rowLink={(row) => ({ to: "/usage", search: { ...search, ...drillDown(by, row), search: "", order: "" } })}
        dimmed={({ id }) => id === "-"}
        empty={
          <EmptyState icon={<IconChartBar />} title={t("usage.rows.none")}>
            {t("usage.rows.noneHelp")}
          </EmptyState>
        }
      />
    </Section>
  );
}

/** Filters that the list of requests has, too. */
const requestFilters = ["model", "provider", "key", "group", "person", "endpoint"];

/** The requests of a row; null: the list of requests cannot show them alone. */
function requestsOf(row: Row, by: RowDimension, search: Search): LinkProps | null {
  const filter = filterFor(by);
  if (filter === null || !requestFilters.includes(filter) || row.id === "-") return null;
  const shared = ["range", "from", "to", "tz", ...requestFilters].flatMap((name) =>
    search[name] === undefined ? [] : [[name, search[name]]],
  );
  return { to: "/requests", search: { ...Object.fromEntries(shared), [filter]: row.id } };
}

/** The ids of sortable columns are the sort orders of the list. */
function columnsOf(by: RowDimension, whole: number, search: Search): readonly Column<Row>[] {
  const figure = (
    id: string,
    header: string,
    cell: Column<Row>["cell"],
    more: Partial<Column<Row>> = {},
  ): Column<Row> => ({ id, header, cell, align: "right", ...more });
  const sorted = { sortBy: "gateway" } as const;
  return [
    { id: "label", header: t(`usage.by.${by}`), cell: (row) => rowName(row, by), ...sorted },
    figure("cost_usd", t("usage.measure.cost"), ({ figures }) => <Money usd={figures.cost_usd} aligned />, sorted),
    figure("share", t("usage.rows.share"), ({ figures }) =>
      whole === 0 ? <Nothing /> : formatShare(Math.min(1, figures.cost_usd / whole)),
    ),
    figure("before", t("usage.rows.before"), ({ previous }) => <Money usd={previous?.cost_usd ?? null} aligned />, {
      optional: true,
    }),
    figure("change", t("usage.rows.change"), (row) => <ChangeOf row={row} />, { secondary: true }),
    figure(
      "requests",
      t("usage.measure.requests"),
      (row) => {
        const link = requestsOf(row, by, search);
        const count = <Count value={row.figures.requests} />;
        if (link === null) return count;
        return (
          <Link
            {...link}
            className="text-link"
            title={t("usage.rows.requests", { name: row.label })}
            onClick={(event) => event.stopPropagation()}
          >
            {count}
          </Link>
        );
      },
      sorted,
    ),
    figure("error_rate", t("usage.measure.errorRate"), ({ figures }) => <Share share={errorRateOf(figures)} />, sorted),
    figure("failed_requests", t("usage.measure.errors"), ({ figures }) => <Count value={figures.failed_requests} />, {
      ...sorted,
      optional: true,
    }),
    figure(
      "tokens",
      t("usage.measure.tokens"),
      ({ figures }) => <Count value={figures.input_tokens + figures.output_tokens} short />,
      { ...sorted, secondary: true },
    ),
    ...tokenColumns.map(({ id, header, ...more }) =>
      figure(id, header, ({ figures }) => <Count value={figures[id]} />, { ...more, optional: true }),
    ),
    figure(
      "cache_read_share",
      t("usage.measure.cacheShare"),
      ({ figures }) => <Share share={figures.cache_read_share} />,
      { ...sorted, secondary: true },
    ),
    figure(
      "reasoning_share",
      t("usage.measure.reasoningShare"),
      ({ figures }) => <Share share={figures.reasoning_share} />,
      { ...sorted, optional: true },
    ),
    figure(
      "cache_saved_usd",
      t("usage.measure.cacheSaved"),
      ({ figures }) => <Money usd={figures.cache_saved_usd} aligned />,
      { ...sorted, secondary: true },
    ),
    figure(
      "request_latency_p50_ms",
      t("usage.measure.p50"),
      ({ figures }) => <Duration ms={figures.request_latency_p50_ms} />,
      { ...sorted, optional: true },
    ),
    figure(
      "request_latency_p95_ms",
      t("usage.measure.p95"),
      ({ figures }) => <Duration ms={figures.request_latency_p95_ms} />,
      { ...sorted, secondary: true },
    ),
  ];
}

const tokenColumns = [
  { id: "input_tokens", header: t("usage.measure.input") },
  { id: "cached_tokens", header: t("usage.measure.cached") },
  { id: "cache_write_tokens", header: t("usage.measure.cacheWrites") },
  { id: "output_tokens", header: t("usage.measure.output") },
  { id: "reasoning_tokens", header: t("usage.measure.reasoning"), sortBy: "gateway" },
] as const;

/** The change of spend against the compared period. */
function ChangeOf({ row: { figures, previous } }: { readonly row: Row }) {
  if (previous === null || previous.cost_usd === 0) return <Nothing />;
  const share = figures.cost_usd / previous.cost_usd - 1;
  return (
    <span className="tabular">
      {share >= 0 ? "+" : "−"}
      {formatShare(Math.abs(share))}
    </span>
  );
}
