import type { Connection, Database } from "../database/database.ts";
import { dayMs } from "../ledger/ledger-grains.ts";

interface ChangedDay {
  readonly day: number;
  /** The number of changes of its rollups; null: they are not counted yet. */
  readonly touched: number | null;
}

/** Closed days that may have late entries: their rollups changed since the last search. Entries before `pruned` are deleted. */
export async function changedDays({ kysely }: Database, pruned: number): Promise<readonly ChangedDay[]> {
  return await kysely
    .selectFrom("focus_days")
    .leftJoin("summed_days", "summed_days.day", "focus_days.day")
    .leftJoin("focus_checks", "focus_checks.day", "focus_days.day")
    .select(["focus_days.day", "summed_days.touched"])
    .where("focus_days.day", ">=", pruned)
    .where((eb) =>
      eb.or([
        eb("summed_days.touched", "is", null),
        eb("focus_checks.touched", "is", null),
        eb("focus_checks.touched", "!=", eb.ref("summed_days.touched")),
      ]),
    )
    .orderBy("focus_days.day")
    .execute();
}

/**
 * Workspaces with a difference between the entries of a closed day and its rows so far. Adjustments may add up to nothing, so workspaces
 * that have any are always among them.
 */
export async function lateWorkspaces({ kysely }: Database, day: number): Promise<readonly string[]> {
  const booked = await kysely
    .selectFrom("usage_rollups")
    .select((eb) => [
      "workspace_id",
      eb.fn.sum<Sum>("attempts").as("attempts"),
      eb.fn.sum<Sum>("cost_nano_usd").as("cost"),
      eb.fn.max(eb.case().when("endpoint", "=", "adjustment").then(eb.lit(1)).else(eb.lit(0)).end()).as("adjusted"),
    ])
    .where("hour", ">=", day)
    .where("hour", "<", day + dayMs)
    .groupBy("workspace_id")
    .orderBy("workspace_id")
    .execute();
  const written = await closedParts(kysely)
    .select((eb) => [
      "workspace_id",
      eb.fn.sum<Sum>("attempts").as("attempts"),
      eb.fn.sum<Sum>("cost_nano_usd").as("cost"),
    ])
    .where("charge_day", "=", day)
    .groupBy("workspace_id")
    .execute();
  const sumsOf = ({ attempts, cost }: { readonly attempts: Sum; readonly cost: Sum }) => `${attempts} ${cost}`;
  const before = new Map(written.map((row) => [row.workspace_id, sumsOf(row)]));
  return booked
    .filter((row) => Number(row.adjusted) === 1 || (before.get(row.workspace_id) ?? "0 0") !== sumsOf(row))
    .map(({ workspace_id }) => workspace_id);
}

type Sum = number | string;

/** The stored sums of a workspace's entries of a day, part after part. */
export async function* writtenSums(
  { kysely }: Database,
  day: number,
  workspaceId: string,
): AsyncGenerator<string, void> {
  const parts = await closedParts(kysely)
    .select(["focus_parts.day", "focus_parts.run", "focus_parts.seq"])
    .where("charge_day", "=", day)
    .where("workspace_id", "=", workspaceId)
    .execute();
  for (const part of parts) {
    const { sums } = await kysely
      .selectFrom("focus_parts")
      .select("sums")
      .where("day", "=", part.day)
      .where("run", "=", part.run)
      .where("seq", "=", part.seq)
      .executeTakeFirstOrThrow();
    yield sums;
  }
}

/** Parts that count: of the run that closed their day. */
export function closedParts(connection: Connection) {
  return connection
    .selectFrom("focus_parts")
    .innerJoin("focus_days", (join) =>
      join.onRef("focus_days.day", "=", "focus_parts.day").onRef("focus_days.run", "=", "focus_parts.run"),
    );
}
