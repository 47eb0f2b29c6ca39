import { useMemo } from "react";
import { formatCount } from "../../../client/format.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Nothing } from "../../../components/figures.tsx";
import { rowsOf } from "../../../components/rows.ts";
import { t } from "../../../language/areas/playground.ts";
import { similarity } from "./vectors.ts";

interface VectorTableProps {
  readonly lines: readonly string[];
  readonly vectors: readonly (readonly number[])[];
}

interface VectorRow {
  readonly at: number;
  readonly line: string;
  readonly size: number;
  readonly first: string;
  readonly near: number | null;
}

const shown = 4;

export function VectorTable({ lines, vectors }: VectorTableProps) {
  const rows = useMemo(() => {
    const reference = vectors[0] ?? [];
    return rowsOf(
      vectors.map(
        (vector, at): VectorRow => ({
          at,
          line: lines[at] ?? "",
          size: vector.length,
          first: `${vector
            .slice(0, shown)
            .map((value) => value.toFixed(4))
            .join(", ")}${vector.length > shown ? ", …" : ""}`,
          near: similarity(reference, vector),
        }),
      ),
    );
  }, [lines, vectors]);
  return (
    <DataTable
      label={t("playground.embedding.vectors")}
      columns={columns}
      rows={rows}
      rowKey={(row) => String(row.at)}
      empty={t("playground.embedding.empty")}
    />
  );
}

const columns: readonly Column<VectorRow>[] = [
  { id: "line", header: t("playground.form.text"), cell: (row) => <span className="break">{row.line}</span> },
  { id: "size", header: t("playground.embedding.dimensions"), cell: (row) => formatCount(row.size), align: "right" },
  {
    id: "first",
    header: t("playground.embedding.firstValues"),
    cell: (row) => <code className="vector">{row.first}</code>,
  },
  {
    id: "near",
    header: t("playground.embedding.similarity"),
    align: "right",
    sortBy: (row) => row.near,
    cell: (row) => (row.near === null ? <Nothing /> : <span className="tabular">{row.near.toFixed(3)}</span>),
  },
];
