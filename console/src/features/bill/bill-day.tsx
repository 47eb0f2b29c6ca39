import { Skeleton } from "@mantine/core";
import type { BillLineRow } from "@sluice/contract";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Count, Money, Nothing } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { rowsOf } from "../../components/rows.ts";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/bill.ts";
import { LineActions } from "./line-actions.tsx";

interface BillDayProps {
  readonly provider: string;
  readonly day: string;
}

/** The lines of one day, unexplained differences first. */
export function BillDay({ provider, day }: BillDayProps) {
  const { data, error, refetch } = useCall("reconciliation.show", { params: { provider, day } });
  const columns = useMemo(
    () => [
      ...lineColumns,
      { ...actions, cell: (line: BillLineRow) => <LineActions provider={provider} day={day} line={line} /> },
    ],
    [provider, day],
  );
  if (data === undefined) {
    return error === null ? <Skeleton height={240} /> : <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  }
  const lines = data.lines.toSorted((one, other) => weightOf(other) - weightOf(one));
  const title = t("bill.day.title", { provider, day });
  return (
    <Section title={title} description={t("bill.day.help")} flush>
      <DataTable
        label={title}
        columns={columns}
        rows={rowsOf(lines)}
        rowKey={({ model, class: usageClass }) => `${usageClass} ${model}`}
        empty={t("bill.day.empty")}
        name="bill-lines"
      />
    </Section>
  );
}

function weightOf({ state, difference_usd: usd }: BillLineRow): number {
  return state === "different" ? 1 + Math.abs(usd) : 0;
}

const actions = { id: "actions", header: t("bill.columns.actions"), align: "right", quiet: true } as const;

const lineColumns: readonly Column<BillLineRow>[] = [
  {
    id: "model",
    header: t("bill.columns.model"),
    cell: ({ model }) => <span className="bill-model break">{model === "" ? t("bill.noModel") : model}</span>,
  },
  { id: "class", header: t("bill.columns.class"), cell: (line) => t(`bill.classes.${line.class}`) },
  {
    id: "units",
    header: t("bill.columns.units"),
    align: "right",
    cell: ({ our_units: ours, their_units: theirs }) => (
      <span className="nowrap">
        <Count value={ours} /> / <Count value={theirs} />
      </span>
    ),
  },
  {
    id: "ours",
    header: t("bill.columns.ours"),
    align: "right",
    cell: ({ our_usd: ours, adjusted_usd: adjusted }) => <Money usd={ours + adjusted} aligned />,
  },
  {
    id: "theirs",
    header: t("bill.columns.theirs"),
    align: "right",
    cell: ({ their_usd: usd }) => <Money usd={usd} aligned />,
  },
  {
    id: "difference",
    header: t("bill.columns.difference"),
    align: "right",
    sortBy: ({ difference_usd: usd }) => Math.abs(usd),
    cell: ({ difference_usd: usd }) => <Money usd={usd} aligned />,
  },
  { id: "causes", header: t("bill.columns.causes"), cell: (line) => <Causes line={line} /> },
  { id: "state", header: t("bill.columns.state"), cell: (line) => <LineState line={line} /> },
];

function Causes({ line: { causes, state } }: { readonly line: BillLineRow }) {
  if (causes.length === 0 || state === "matched") return <Nothing />;
  return (
    <ul className="bill-causes">
      {causes.map(({ cause, usd }) => (
        <li key={cause}>
          {t(`bill.causes.${cause}`)} <Money usd={usd} />
        </li>
      ))}
    </ul>
  );
}

const tones = { matched: "good", explained: "good", different: "bad" } as const;

function LineState({ line: { state, adjusted_usd: adjusted, decisions } }: { readonly line: BillLineRow }) {
  const label = state === "matched" && adjusted !== 0 ? t("bill.states.adjusted") : t(`bill.states.${state}`);
  const note = decisions.at(-1)?.note ?? "";
  return <StatusBadge status={state} tone={tones[state]} label={label} {...(note === "" ? {} : { hint: note })} />;
}
