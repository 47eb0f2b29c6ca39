import type { AccessTable } from "@sluice/contract";
import { kindOf } from "../../access/reason-words.ts";
import type { AccessRow } from "../../access/use-access.ts";

export interface AccessColumns {
  readonly models: AccessTable["models"];
  readonly rows: readonly AccessRow[];
  /** Models that are left out. */
  readonly hidden: number;
}

/**
 * Leaves out models to which every key has the same access, since only the differences are interesting. Keys that are disabled as a
 * whole are ignored.
 */
export function differingColumns(models: AccessTable["models"], rows: readonly AccessRow[]): AccessColumns {
  const inUse = rows.filter(({ cells }) => cells.some((reason) => kindOf(reason) !== "state"));
  const differs = (place: number) => {
    const [first, ...others] = inUse.map(({ cells }) => cells[place] === "yes");
    return others.some((each) => each !== first);
  };
  const places = models.flatMap((_, place) => (differs(place) ? [place] : []));
  const at = <Each>(all: readonly Each[]): Each[] => places.flatMap((place) => all[place] ?? []);
  return {
    models: at(models),
    rows: rows.map((row) => ({ ...row, cells: at(row.cells) })),
    hidden: models.length - places.length,
  };
}
