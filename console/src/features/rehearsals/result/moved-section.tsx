import type { RehearsalResult } from "@sluice/contract";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/rehearsals.ts";
import { costs, requests } from "./affected-columns.tsx";
import { RequestsLink } from "./result-link.tsx";

type Moved = RehearsalResult["moved"][number];

/** Requests that another model or provider would have answered, and their cost there. */
export function MovedSection({ moved }: Pick<RehearsalResult, "moved">) {
  return (
    <Section title={t("rehearsals.moved.title")} description={t("rehearsals.moved.help")} flush>
      <DataTable
        label={t("rehearsals.moved.title")}
        columns={columns}
        rows={rowsOf(moved)}
        rowKey={({ from, to }) => `${placeText(from)} ${placeText(to)}`}
        empty={null}
        pageSize={10}
      />
    </Section>
  );
}

function placeText({ model, provider }: Moved["from"]): string {
  return `${model} · ${provider}`;
}

const columns: readonly Column<Moved>[] = [
  {
    id: "from",
    header: t("rehearsals.moved.from"),
    cell: ({ from }) => <RequestsLink filter={{ provider: from.provider }}>{placeText(from)}</RequestsLink>,
  },
  { id: "to", header: t("rehearsals.moved.to"), cell: ({ to }) => <span className="break">{placeText(to)}</span> },
  requests,
  ...costs,
];
