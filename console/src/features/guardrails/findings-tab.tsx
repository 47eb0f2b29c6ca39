import { Anchor, Button, SimpleGrid, Stack, Text } from "@mantine/core";
import {
  type FindingsDimension,
  type GuardrailCheckRow,
  type GuardrailFindings,
  guardrailChecksCsvPath,
} from "@sluice/contract";
import { IconDownload, IconShieldCheck } from "@tabler/icons-react";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCall } from "../../api/use-call.ts";
import { usePages } from "../../api/use-pages.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Count, Nothing, When } from "../../components/figures.tsx";
import { personText } from "../../components/person-text.ts";
import { rowsIn } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { useUrlSearch, writeSearch } from "../../routes/search.ts";
import { checkColumns, VerdictBadge } from "./check-columns.tsx";
import { FindingsChart } from "./findings-chart.tsx";
import { FindingsFilters } from "./findings-filters.tsx";
import { narrowedTo, useFindingsView } from "./findings-view.ts";

/** The findings of guardrails in a time range, over time and by guardrail, type, person and key, and the list of checks. */
export function FindingsTab({ workspace }: { readonly workspace: string }) {
  const { by, query } = useFindingsView();
  const search = useUrlSearch();
  const findings = useCall("guardrails.findings", { params: { workspace }, query: { ...query, by }, keepBefore: true });
  const narrowed = (dimension: FindingsDimension, id: string): LinkProps => ({
    to: "/guardrails",
    search: { ...search, ...narrowedTo(dimension, id) },
  });
  const none = (
    <EmptyState icon={<IconShieldCheck />} title={t("guardrails.findings.none")}>
      {t("guardrails.findings.noneHelp")}
    </EmptyState>
  );
  return (
    <Stack gap="md">
      <FindingsFilters
        workspace={workspace}
        types={findings.data?.types.map(({ type }) => type) ?? []}
        found={findings.data?.guardrails ?? []}
      />
      {findings.data !== undefined && <Totals totals={findings.data.totals} />}
      {findings.data !== undefined && findings.data.totals.checks > 0 && (
        <FindingsChart findings={findings.data} by={by} />
      )}
      <Section
        title={t("guardrails.findings.byGuardrail")}
        description={t("guardrails.findings.byGuardrailHelp")}
        flush
      >
        <DataTable
          label={t("guardrails.findings.byGuardrail")}
          columns={guardrailSums}
          rows={rowsIn(findings, ({ guardrails }) => guardrails)}
          rowKey={({ id, verdict, enforced }) => `${id} ${verdict} ${enforced}`}
          rowLink={({ id, verdict, enforced }) => ({
            to: "/guardrails",
            search: { ...search, rule: id, verdict, enforced: String(enforced) },
          })}
          empty={none}
        />
      </Section>
      <SimpleGrid cols={{ base: 1, md: 3 }}>
        <Section title={t("guardrails.findings.byType")} flush>
          <DataTable
            label={t("guardrails.findings.byType")}
            columns={typeSums}
            rows={rowsIn(findings, ({ types }) => types)}
            rowKey={({ type }) => type}
            rowLink={({ type }) => narrowed("type", type)}
            empty={none}
            pageSize={10}
          />
        </Section>
        <Section title={t("guardrails.findings.byPerson")} flush>
          <DataTable
            label={t("guardrails.findings.byPerson")}
            columns={personSums}
            rows={rowsIn(findings, ({ people }) => people)}
            rowKey={({ person }) => person.id}
            rowLink={({ person }) => narrowed("person", person.id)}
            empty={
              <Text c="dimmed" fz="sm" p="md">
                {t("guardrails.findings.noPeople")}
              </Text>
            }
            pageSize={10}
          />
        </Section>
        <Section title={t("guardrails.findings.byKey")} flush>
          <DataTable
            label={t("guardrails.findings.byKey")}
            columns={keySums}
            rows={rowsIn(findings, ({ keys }) => keys)}
            rowKey={({ id }) => id}
            rowLink={({ id }) => narrowed("key", id)}
            empty={none}
            pageSize={10}
          />
        </Section>
      </SimpleGrid>
      <FindingsList workspace={workspace} none={none} />
    </Stack>
  );
}

/** Every check that found something or failed. */
function FindingsList({ workspace, none }: { readonly workspace: string; readonly none: ReactNode }) {
  const { query } = useFindingsView();
  const checks = usePages("guardrails.checks", { params: { workspace }, query });
  return (
    <Section
      id="findings-list"
      title={t("guardrails.findings.label")}
      description={t("guardrails.findings.help")}
      actions={
        <Button
          component="a"
          variant="default"
          href={`${guardrailChecksCsvPath(workspace)}${writeSearch({ ...query })}`}
          download
          leftSection={<IconDownload size={14} aria-hidden />}
        >
          {t("guardrails.findings.csv")}
        </Button>
      }
      flush
    >
      <DataTable
        label={t("guardrails.findings.label")}
        columns={listColumns}
        rows={checks}
        rowKey={({ id }) => id}
        empty={none}
      />
    </Section>
  );
}

function Totals({ totals }: Pick<GuardrailFindings, "totals">) {
  const { checks, requests, people, checked } = totals;
  return (
    <Stats label={t("guardrails.findings.totals")}>
      <Stat label={t("guardrails.findings.checks")} value={<Count value={checks} />} />
      <Stat label={t("guardrails.findings.requests")} value={<Count value={requests} />} />
      <Stat label={t("guardrails.findings.people")} value={<Count value={people} />} />
      {checked !== null && (
        <Stat
          label={t("guardrails.findings.checked")}
          hint={t("guardrails.findings.checkedHint")}
          value={<Count value={checked} />}
        />
      )}
    </Stats>
  );
}

type GuardrailSum = GuardrailFindings["guardrails"][number];

function countColumn<Row extends object>(id: string, header: string, countOf: (row: Row) => number): Column<Row> {
  return { id, header, sortBy: countOf, cell: (row) => <Count value={countOf(row)} /> };
}

const guardrailSums: readonly Column<GuardrailSum>[] = [
  {
    id: "guardrail",
    header: t("guardrails.findings.guardrail"),
    sortBy: ({ name }) => name,
    cell: ({ name }) => <b className="break">{name}</b>,
  },
  { id: "result", header: t("guardrails.findings.result"), cell: (row) => <VerdictBadge {...row} /> },
  countColumn("requests", t("guardrails.findings.requests"), ({ requests }) => requests),
  countColumn("people", t("guardrails.findings.people"), ({ people }) => people),
  countColumn("checks", t("guardrails.findings.checks"), ({ checks }) => checks),
];

const typeSums: readonly Column<GuardrailFindings["types"][number]>[] = [
  { id: "type", header: t("guardrails.findings.type"), cell: ({ type }) => <span className="break">{type}</span> },
  countColumn("count", t("guardrails.findings.count"), ({ findings }) => findings),
];

const personSums: readonly Column<GuardrailFindings["people"][number]>[] = [
  { id: "person", header: t("guardrails.findings.person"), cell: ({ person }) => personText(person) },
  countColumn("requests", t("guardrails.findings.requests"), ({ requests }) => requests),
];

const keySums: readonly Column<GuardrailFindings["keys"][number]>[] = [
  { id: "key", header: t("guardrails.findings.key"), cell: ({ name }) => <span className="break">{name}</span> },
  countColumn("requests", t("guardrails.findings.requests"), ({ requests }) => requests),
];

const listColumns: readonly Column<GuardrailCheckRow>[] = [
  {
    id: "time",
    header: t("guardrails.findings.time"),
    cell: ({ at, request_id: request, workspace }) => (
      <Anchor
        fz="inherit"
        renderRoot={(props) => (
          <Link to="/requests/$request" params={{ request }} search={{ workspace: workspace.slug }} {...props} />
        )}
      >
        <When at={at} />
      </Anchor>
    ),
  },
  ...checkColumns,
  {
    id: "caller",
    header: t("guardrails.findings.caller"),
    cell: ({ key, person }) => (
      <div>
        <div className="break">{key.name}</div>
        {person === null ? <Nothing /> : personText(person)}
      </div>
    ),
  },
];
