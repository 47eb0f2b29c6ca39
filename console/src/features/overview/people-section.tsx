import { Button, Group, Select } from "@mantine/core";
import { type AnswerOf, type PeopleSort, peopleSorts, type QueryInput } from "@sluice/contract";
import { IconDownload, IconUsers } from "@tabler/icons-react";
import type { LinkProps } from "@tanstack/react-router";
import { useMemo } from "react";
import { usePages } from "../../api/use-pages.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Count, Money } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { SearchBox } from "../../components/search-box.tsx";
import { Section } from "../../components/section.tsx";
import { useTimeRange } from "../../components/use-time-range.ts";
import { t } from "../../language/areas/overview.ts";
import { useUrlSearch, useUrlText } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { Rate, Share } from "./line-figures.tsx";
import { useSavePeople } from "./use-save-people.ts";

type Line = AnswerOf<"usage.people">["data"][number];

const hourMs = 3_600_000;
const usualOrder: PeopleSort = "-cost_usd";
const orders = [
  { value: "-cost_usd", label: t("overview.people.order.cost") },
  { value: "-requests", label: t("overview.people.order.requests") },
  { value: "-tokens", label: t("overview.people.order.tokens") },
  { value: "person", label: t("overview.people.order.name") },
];

/** Everyone with requests in the period, by page; order and search apply to all pages. `whole`: the total spend. */
export function PeopleSection({ whole }: { readonly whole: number }) {
  const workspace = useWorkspace();
  const chosen = useTimeRange();
  // Sums cover whole hours, so the list stays stable while it is read.
  const from = Math.floor(chosen.from / hourMs) * hourMs;
  const to = Math.ceil(chosen.to / hourMs) * hourMs;
  const { range, from: first, to: last } = useUrlSearch();
  const [search] = useUrlText("search");
  const [order, setOrder] = useUrlText("order", usualOrder);
  const sort = peopleSorts.find((each) => each === order) ?? usualOrder;
  const query: QueryInput<"usage.people"> = { from, to, sort, ...(search === "" ? {} : { search }) };
  const params = { workspace: workspace.path };
  const people = usePages("usage.people", { params, query });
  const save = useSavePeople({ params, query });
  const columns = useMemo(() => columnsOf(whole), [whole]);
  const span = Object.fromEntries(
    Object.entries({ range, from: first, to: last }).filter(([, value]) => value !== undefined),
  );
  return (
    <Section
      flush
      title={t("overview.people.title")}
      description={t("overview.people.help")}
      actions={
        <Button
          variant="default"
          leftSection={<IconDownload size={15} />}
          loading={save.isPending}
          disabled={people.rows === null || people.rows.length === 0}
          onClick={() => save.mutate()}
        >
          {t("overview.people.save")}
        </Button>
      }
    >
      <Group px="md" pb="sm" gap="xs">
        <SearchBox label={t("overview.people.search")} placeholder={t("overview.people.searchExample")} />
        <Select
          aria-label={t("overview.people.order.title")}
          data={orders}
          placeholder={t("overview.people.order.title")}
          value={sort}
          onChange={(value) => setOrder(value ?? usualOrder)}
          allowDeselect={false}
          w={210}
          className="cards-only"
        />
      </Group>
      {save.error !== null && <ProblemAlert problem={save.error} />}
      <DataTable
        label={t("overview.people.title")}
        columns={columns}
        rows={people}
        rowKey={({ person }) => person?.id ?? ""}
        pageSize={50}
        order={{ by: sort, onChange: setOrder }}
        rowLink={({ person }): LinkProps => ({
          to: "/requests",
          search: { ...span, ...(person === null ? {} : { person: person.id }) },
        })}
        dimmed={({ person }) => person === null}
        empty={
          <EmptyState icon={<IconUsers />} title={t("overview.people.none")}>
            {t("overview.people.noneHelp")}
          </EmptyState>
        }
      />
    </Section>
  );
}

/** The ids of sortable columns are the sort orders of the list. */
function columnsOf(whole: number): readonly Column<Line>[] {
  return [
    { id: "person", header: t("overview.by.person"), cell: (line) => <Who line={line} />, sortBy: "gateway" },
    {
      id: "cost_usd",
      header: t("overview.measure.spend"),
      cell: (line) => <Money usd={line.cost_usd} aligned />,
      sortBy: "gateway",
      align: "right",
    },
    {
      id: "share",
      header: t("overview.lines.share"),
      cell: (line) => <Share of={line.cost_usd} whole={whole} />,
      align: "right",
    },
    {
      id: "requests",
      header: t("overview.measure.requests"),
      cell: (line) => <Count value={line.requests} />,
      sortBy: "gateway",
      align: "right",
    },
    {
      id: "errors",
      header: t("overview.figures.errorRate"),
      cell: (line) => <Rate rate={line.requests === 0 ? null : line.failed_requests / line.requests} />,
      align: "right",
    },
    {
      id: "tokens",
      header: t("overview.measure.tokens"),
      cell: (line) => <Count value={line.input_tokens + line.output_tokens} short />,
      sortBy: "gateway",
      align: "right",
    },
  ];
}

function Who({ line: { person } }: { readonly line: Line }) {
  if (person === null) return t("overview.lines.nobody");
  const { id, email, name } = person;
  return (
    <span className="key-name">
      {name || email || id}
      {name !== "" && email !== name && <small>{email}</small>}
    </span>
  );
}
