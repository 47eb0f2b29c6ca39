import type { AccessTable } from "@sluice/contract";
import { memo } from "react";
import { t } from "../../../language/areas/workspaces.ts";
import { markOf } from "../../access/marks.ts";
import { shortReason } from "../../access/reason-words.ts";
import type { AccessRow } from "../../access/use-access.ts";

interface MatrixRowProps {
  readonly row: AccessRow;
  /** Differs from the short names of the other rows. */
  readonly shortName: string;
  readonly place: number;
  readonly models: AccessTable["models"];
  /** Column of the focusable cell. null: it is in another row. */
  readonly activeColumn: number | null;
}

/** The row of one key. Memoized, because moving the pointer rerenders the matrix. */
export const MatrixRow = memo(function MatrixRow({ row, shortName, place, models, activeColumn }: MatrixRowProps) {
  return (
    <tr aria-rowindex={place + 2}>
      <th scope="row" title={t("workspaces.access.keyInGroup", { name: row.name, group: row.group.name })}>
        <span className="unseen">{row.name}</span>
        <span className="matrix-key" aria-hidden>
          {shortName}
        </span>
        <small>{row.group.name}</small>
      </th>
      {models.map((model, column) => {
        const reason = row.cells[column] ?? "no_deployment";
        return (
          <td key={model.name}>
            <button
              type="button"
              className="matrix-cell"
              data-row={place}
              data-column={column}
              tabIndex={activeColumn === column ? 0 : -1}
            >
              <span className="access-mark" data-mark={markOf(reason)} />
              <span className="unseen">{shortReason(reason)}</span>
            </button>
          </td>
        );
      })}
    </tr>
  );
});
