import { Anchor, Skeleton, Text } from "@mantine/core";
import type { QueryInput, UsageRow } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../api/use-call.ts";
import { formatShare, formatUsd } from "../../client/format.ts";
import { Money } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/overview.ts";
import type { Search } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { rowName } from "../usage/row-names.ts";
import { drillDown } from "../usage/usage-view.ts";
import "../../styles/overview.css";

type RowsQuery = QueryInput<"usage.rows">;

interface TopRowsProps {
  readonly by: "model" | "key" | "person";
  readonly title: string;
  readonly span: Pick<RowsQuery, "from" | "to" | "compare_from" | "compare_to">;
  /** The same period as URL parameters of the usage page. */
  readonly period: Search;
  /** Only the usage of this model. */
  readonly model?: string;
}

const shown = 5;

/** The most expensive values of a dimension with their share and change, each linked to its usage. */
export function TopRows({ by, title, span, period, model }: TopRowsProps) {
  const { path } = useWorkspace();
  const filter = model === undefined ? {} : { model };
  const rows = useCall("usage.rows", {
    params: { workspace: path },
    query: { ...span, ...filter, by, compare: "true", limit: shown },
    keepBefore: true,
  });
  const { data } = rows;
  const view = { ...period, by, ...filter };
  return (
    <Section
      title={title}
      actions={
        <Anchor size="sm" renderRoot={(props) => <Link to="/usage" search={view} {...props} />}>
          {t("overview.drivers.all", { count: data?.total ?? 0 })}
        </Anchor>
      }
    >
      {rows.error !== null && data === undefined ? (
        <ProblemAlert problem={rows.error} onRetry={() => void rows.refetch()} />
      ) : data === undefined ? (
        <Skeleton height={140} />
      ) : data.data.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t("overview.drivers.none")}
        </Text>
      ) : (
        <ol className="plain-list top-rows">
          {data.data.map((row) => (
            <TopRow key={row.id} row={row} by={by} whole={data.totals.cost_usd} view={view} />
          ))}
        </ol>
      )}
    </Section>
  );
}

interface TopRowProps {
  readonly row: UsageRow;
  readonly by: TopRowsProps["by"];
  readonly whole: number;
  /** The usage page with the same period and filters. */
  readonly view: Search;
}

function TopRow({ row, by, whole, view }: TopRowProps) {
  const { figures, previous } = row;
  const share = whole === 0 ? 0 : Math.min(1, figures.cost_usd / whole);
  const name = rowName(row, by);
  return (
    <li>
      <div className="top-row">
        <Anchor
          size="sm"
          className="break"
          renderRoot={(props) => (
            <Link to="/usage" search={row.id === "-" ? view : { ...view, ...drillDown(by, row) }} {...props} />
          )}
        >
          {name}
        </Anchor>
        <span className="top-row-figures">
          <Money usd={figures.cost_usd} short />
          <Change now={figures.cost_usd} before={previous?.cost_usd ?? null} />
        </span>
      </div>
      <span className="share-track" aria-hidden="true">
        <span className="share-bar" style={{ width: `${share * 100}%` }} />
      </span>
    </li>
  );
}

/** "+12%", or that it is new. */
function Change({ now, before }: { readonly now: number; readonly before: number | null }) {
  if (before === null || (before === 0 && now === 0)) return null;
  const words = before === 0 ? t("overview.drivers.new") : signed(now / before - 1);
  return (
    <span className="top-row-change" title={t("overview.drivers.before", { cost: formatUsd(before) })}>
      {words}
    </span>
  );
}

function signed(share: number): string {
  return `${share < 0 ? "−" : "+"}${formatShare(Math.abs(share))}`;
}
