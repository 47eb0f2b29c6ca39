import type { AccessTable } from "@sluice/contract";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type KeyboardEvent, memo, type SyntheticEvent, useMemo, useRef, useState } from "react";
import { Rich, t } from "../../../language/areas/workspaces.ts";
import type { AccessQuestion } from "../../access/access-panel.tsx";
import { reasonWords } from "../../access/reason-words.ts";
import type { AccessRow } from "../../access/use-access.ts";
import { type Cell, moved } from "./cell-moves.ts";
import { MatrixRow } from "./matrix-row.tsx";
import { shortNames } from "./short-names.ts";

interface AccessMatrixProps {
  readonly models: AccessTable["models"];
  readonly rows: readonly AccessRow[];
  readonly stale: boolean;
  readonly onAsk: (question: AccessQuestion) => void;
}

const rowHeight = 33;
const overscan = 6;
const rowRoomChars = 24;

/**
 * A table of keys and models. Only visible rows are rendered. One cell can have the focus; the arrow, Home, End and Page keys move it.
 */
export function AccessMatrix({ models, rows, stale, onAsk }: AccessMatrixProps) {
  const box = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<Cell>({ row: 0, column: 0 });
  const [pointed, setPointed] = useState<Cell | null>(null);
  const active = { row: Math.min(focused.row, rows.length - 1), column: Math.min(focused.column, models.length - 1) };
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan,
  });
  const ask = (cell: Cell | null) => {
    const key = cell === null ? undefined : rows[cell.row];
    const model = cell === null ? undefined : models[cell.column];
    if (key !== undefined && model !== undefined) onAsk({ key: key.id, model: model.name });
  };
  const keyDown = (event: KeyboardEvent) => {
    const next = moved(active, event.key, event.ctrlKey, { rows: rows.length, columns: models.length });
    if (next === null) return;
    event.preventDefault();
    setFocused(next);
    setPointed(next);
    virtual.scrollToIndex(next.row);
    // The row may only have been rendered now.
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(selectorOf(next))?.focus());
  };
  const names = useMemo(
    () =>
      shortNames(
        rows.map(({ name }) => name),
        rowRoomChars,
      ),
    [rows],
  );
  const shown = virtual.getVirtualItems();
  const before = shown[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <>
      <div className="matrix-box" ref={box} data-stale={stale || undefined}>
        <table
          className="matrix"
          style={widthOf(models.length)}
          aria-label={t("workspaces.access.table")}
          aria-rowcount={rows.length + 1}
          aria-colcount={models.length + 1}
          onKeyDown={keyDown}
          onClick={(event) => {
            const cell = cellOf(event);
            if (cell !== null) setFocused(cell);
            ask(cell);
          }}
          onMouseOver={(event) => setPointed(cellOf(event))}
          onMouseLeave={() => setPointed(null)}
          onFocus={(event) => setPointed(cellOf(event))}
          onBlur={() => setPointed(null)}
        >
          <MatrixHead models={models} />
          <tbody>
            <Gap height={before} />
            {shown.map(({ index }) => {
              const row = rows[index];
              return row === undefined ? null : (
                <MatrixRow
                  key={row.id}
                  row={row}
                  shortName={names[index] ?? row.name}
                  place={index}
                  models={models}
                  activeColumn={active.row === index ? active.column : null}
                />
              );
            })}
            <Gap height={after} />
          </tbody>
        </table>
      </div>
      <Pointed cell={pointed} rows={rows} models={models} />
    </>
  );
}

/** Memoized, because moving the pointer over cells rerenders the matrix often. */
const MatrixHead = memo(function MatrixHead({ models }: Pick<AccessMatrixProps, "models">) {
  const short = shortNames(models.map(({ name }) => name));
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th scope="col" className="matrix-corner">
          {t("workspaces.access.key")}
        </th>
        {models.map((model, place) => (
          <th key={model.name} scope="col" title={`${model.name} (${model.type})`}>
            <span className="unseen">{model.name}</span>
            <span className="matrix-model" aria-hidden>
              {short[place]}
            </span>
          </th>
        ))}
      </tr>
    </thead>
  );
});

/** A fixed width spares the browser measuring thousands of cells. */
function widthOf(columns: number): CSSProperties {
  return { width: `calc(var(--key-width) + ${columns} * 2.125rem)` };
}

function selectorOf({ row, column }: Cell): string {
  return `[data-row="${row}"][data-column="${column}"]`;
}

function cellOf(event: SyntheticEvent): Cell | null {
  const cell = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-column]") : null;
  if (cell === null) return null;
  return { row: Number(cell.dataset["row"]), column: Number(cell.dataset["column"]) };
}

function Gap({ height }: { readonly height: number }) {
  return height <= 0 ? null : (
    <tr>
      <td style={{ height }} />
    </tr>
  );
}

interface PointedProps extends Pick<AccessMatrixProps, "rows" | "models"> {
  readonly cell: Cell | null;
}

/** Describes the cell under the pointer or focus. Screen readers read the cell itself. */
function Pointed({ cell, rows, models }: PointedProps) {
  const row = cell === null ? undefined : rows[cell.row];
  const model = cell === null ? undefined : models[cell.column];
  const reason = cell === null ? undefined : row?.cells[cell.column];
  return (
    <div className="matrix-pointed" aria-hidden="true">
      {row !== undefined && model !== undefined && reason !== undefined ? (
        <Rich
          text="workspaces.access.pointed"
          values={{ key: row.name, model: model.name, reason: reasonWords[reason] }}
          tags={{ b: (inside) => <b>{inside}</b> }}
        />
      ) : (
        t("workspaces.access.point")
      )}
    </div>
  );
}
