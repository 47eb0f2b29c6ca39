import { Stack, Text } from "@mantine/core";
import type { Explanation, RequestDetail } from "@sluice/contract";
import { formatCount, formatUsd } from "../../../client/format.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Count, Nothing, When } from "../../../components/figures.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { FactList } from "./fact-list.tsx";
import { namedLines, type PlanRow, planRows } from "./plan-rows.ts";

/** Which deployments there were, in which order, and why; what refused the call; what was tried in between. */
export function PlanSection({ detail }: { readonly detail: RequestDetail }) {
  const { explanation, attempts } = detail;
  if (explanation === null) {
    return (
      <Section title="The plan">
        <Text fz="sm" c="dimmed">
          There was one way to go and it was taken. A plan is kept when there is something to choose, to refuse or to
          repeat.
        </Text>
      </Section>
    );
  }
  return (
    <>
      {explanation.refusal !== null && <Refusal refusal={explanation.refusal} />}
      {explanation.plan.length > 0 && (
        <Section
          flush
          title="The plan"
          description="Deployments in the order in which they would be tried, as things stood when the call came."
        >
          <DataTable
            label="The plan"
            columns={columns}
            rows={rowsOf(planRows(explanation, attempts))}
            rowKey={(row) => String(row.place)}
            dimmed={(row) => row.leftOut}
            empty={null}
          />
        </Section>
      )}
      {explanation.walk !== undefined && explanation.walk.length > 0 && (
        <Walk lines={namedLines(explanation.walk, explanation.plan)} />
      )}
    </>
  );
}

const columns: readonly Column<PlanRow>[] = [
  {
    id: "deployment",
    header: "Deployment",
    cell: (row) => (
      <>
        {row.provider} <span className="aside">{row.upstreamModel}</span>
      </>
    ),
  },
  { id: "model", header: "Model", cell: (row) => row.model },
  { id: "priority", header: "Priority", cell: (row) => <Count value={row.priority} />, align: "right" },
  { id: "weight", header: "Weight", cell: (row) => <Count value={row.weight} />, align: "right" },
  { id: "note", header: "Why it stands here", cell: (row) => row.note ?? <Nothing word="nothing to say" /> },
  {
    id: "result",
    header: "Result",
    cell: (row) => (row.result === null ? <Nothing word="not tried" /> : <StatusBadge {...row.result} />),
  },
];

/** By which limit, and when there is room again. A refusal that is no limit's is told in the summary. */
function Refusal({ refusal }: { readonly refusal: NonNullable<Explanation["refusal"]> }) {
  if (refusal.scope === null && refusal.limit === null) return null;
  const money = refusal.code === "budget_exceeded";
  const figure = (value: number | null) => (value === null ? null : money ? formatUsd(value) : formatCount(value));
  return (
    <Section title="Why it was refused">
      <FactList
        facts={[
          ["Code", <code key="code">{refusal.code}</code>],
          ["Limit of", refusal.scope],
          ["Limit", figure(refusal.limit)],
          ["Used", figure(refusal.used)],
          ["Frees", refusal.resets_at === null ? null : <When key="when" at={refusal.resets_at} exact />],
        ]}
      />
    </Section>
  );
}

function Walk({ lines }: { readonly lines: readonly string[] }) {
  return (
    <Section title="Step by step">
      <Stack component="ol" gap={4} m={0} pl="lg" fz="sm">
        {lines.map((line, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change, and two may be the same.
          <li key={place} className="break">
            {line}
          </li>
        ))}
      </Stack>
    </Section>
  );
}
