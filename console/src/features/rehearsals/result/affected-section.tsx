import { SegmentedControl } from "@mantine/core";
import type { RehearsalResult } from "@sluice/contract";
import { useState } from "react";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/rehearsals.ts";
import { keyColumns, modelColumns, personColumns, ruleColumns } from "./affected-columns.tsx";

const views = ["limits", "people", "keys", "models"] as const;
type View = (typeof views)[number];
const choices = views.map((value) => ({ value, label: t(`rehearsals.refused.${value}`) }));
const listedMax = 100;

/** Refused requests and cost by limit, person, key and model. */
export function AffectedSection({ result }: { readonly result: RehearsalResult }) {
  const [view, setView] = useState<View>(result.refused + result.refused_anyway > 0 ? "limits" : "keys");
  const { rules: limits, people, keys, models } = result;
  const listed = { limits, people, keys, models }[view].length;
  return (
    <Section
      title={t("rehearsals.refused.title")}
      {...(listed >= listedMax ? { description: t("rehearsals.refused.most") } : {})}
      actions={
        <div className="sideways">
          <SegmentedControl data={choices} value={view} onChange={setView} aria-label={t("rehearsals.refused.by")} />
        </div>
      }
      flush
    >
      {view === "limits" && (
        <AffectedTable
          label={t("rehearsals.refused.limits")}
          columns={ruleColumns}
          rows={result.rules}
          rowKey={({ scope, scope_id: id, limit }) => `${scope} ${id} ${limit}`}
          empty={t("rehearsals.refused.noLimit")}
        />
      )}
      {view === "people" && (
        <AffectedTable
          label={t("rehearsals.refused.people")}
          columns={personColumns}
          rows={result.people}
          rowKey={({ person }) => person.id}
          empty={t("rehearsals.refused.noPerson")}
        />
      )}
      {view === "keys" && (
        <AffectedTable
          label={t("rehearsals.refused.keys")}
          columns={keyColumns}
          rows={result.keys}
          rowKey={({ key }) => key.id}
          empty={t("rehearsals.refused.noKey")}
        />
      )}
      {view === "models" && (
        <AffectedTable
          label={t("rehearsals.refused.models")}
          columns={modelColumns}
          rows={result.models}
          rowKey={({ model }) => model}
          empty={t("rehearsals.refused.noModel")}
        />
      )}
    </Section>
  );
}

interface AffectedTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly empty: string;
}

function AffectedTable<Row extends object>({ rows, ...table }: AffectedTableProps<Row>) {
  return <DataTable {...table} rows={rowsOf(rows)} pageSize={10} />;
}
