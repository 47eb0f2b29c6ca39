import { Stack, Text } from "@mantine/core";
import type { RequestDetail } from "@sluice/contract";
import type { ComponentProps } from "react";
import { formatCount, formatUsd } from "../../../client/format.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Count, Nothing, When } from "../../../components/figures.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/requests.ts";
import { RaiseLimit } from "../../limits/raise-limit.tsx";
import { FactList } from "./fact-list.tsx";
import { FoldedSection } from "./folded-section.tsx";
import { type PlanRow, planRows } from "./plan-rows.ts";
import { walkLines } from "./plan-words.ts";

/** The deployments in order with reasons, why the request was refused, and the steps in between. */
export function PlanSection({ detail }: { readonly detail: RequestDetail }) {
  const { explanation, attempts } = detail;
  if (explanation === null) {
    return (
      <FoldedSection title={t("requests.plan.title")}>
        <Text fz="sm" c="dimmed">
          {t("requests.plan.trivial")}
        </Text>
      </FoldedSection>
    );
  }
  // A plan that worked at once is rarely of interest.
  const troubled = explanation.refusal !== null || explanation.failures.length > 0;
  return (
    <>
      {explanation.refusal !== null && <Refusal refusal={explanation.refusal} workspace={detail.workspace.slug} />}
      {explanation.plan.length > 0 && (
        <FoldedSection
          flush
          open={troubled}
          title={t("requests.plan.title")}
          description={t("requests.plan.description")}
        >
          <DataTable
            label={t("requests.plan.title")}
            columns={columns}
            rows={rowsOf(planRows(explanation, attempts))}
            rowKey={(row) => String(row.place)}
            dimmed={(row) => row.leftOut}
            empty={null}
          />
        </FoldedSection>
      )}
      {explanation.walk.length > 0 && <Walk lines={walkLines(explanation)} open={troubled} />}
    </>
  );
}

const columns: readonly Column<PlanRow>[] = [
  {
    id: "deployment",
    header: t("requests.plan.deployment"),
    cell: (row) => (
      <>
        {row.provider} <span className="aside">{row.upstreamModel}</span>
      </>
    ),
  },
  { id: "model", header: t("requests.plan.model"), cell: (row) => row.model },
  {
    id: "priority",
    header: t("requests.plan.priority"),
    cell: (row) => <Count value={row.priority} />,
    align: "right",
  },
  { id: "weight", header: t("requests.plan.weight"), cell: (row) => <Count value={row.weight} />, align: "right" },
  {
    id: "note",
    header: t("requests.plan.reason"),
    cell: (row) => row.note ?? <Nothing word={t("requests.plan.noReason")} />,
  },
  {
    id: "result",
    header: t("requests.plan.result"),
    cell: (row) =>
      row.result === null ? <Nothing word={t("requests.plan.notTried")} /> : <StatusBadge {...row.result} />,
  },
];

/** The limit that was reached, and when it resets. Other refusals are in the summary. */
function Refusal({ refusal, workspace }: ComponentProps<typeof RaiseLimit>) {
  if (refusal.scope === null && refusal.limit === null) return null;
  const money = refusal.code.startsWith("budget_");
  const figure = (value: number | null) => (value === null ? null : money ? formatUsd(value) : formatCount(value));
  return (
    <Section title={t("requests.plan.rejectedTitle")} actions={<RaiseLimit refusal={refusal} workspace={workspace} />}>
      <FactList
        facts={[
          [t("requests.plan.code"), <code key="code">{refusal.code}</code>],
          [t("requests.plan.scope"), refusal.scope],
          [t("requests.plan.limit"), figure(refusal.limit)],
          [t("requests.plan.used"), figure(refusal.used)],
          [
            t("requests.plan.resets"),
            refusal.resets_at === null ? null : <When key="when" at={refusal.resets_at} exact />,
          ],
        ]}
      />
    </Section>
  );
}

interface WalkProps {
  readonly lines: readonly string[];
  readonly open: boolean;
}

function Walk({ lines, open }: WalkProps) {
  return (
    <FoldedSection title={t("requests.plan.steps")} open={open}>
      <Stack component="ol" gap={4} m={0} pl="lg" fz="sm">
        {lines.map((line, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change, and two may be the same.
          <li key={place} className="break">
            {line}
          </li>
        ))}
      </Stack>
    </FoldedSection>
  );
}
