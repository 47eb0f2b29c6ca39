import type { RequestFilter } from "#ports/index.ts";
import { equalsGiven } from "../database/conditions.ts";
import type { PagePosition } from "../database/pages.ts";
import type { Row } from "../database/schema.ts";
import { rollupsWithin, summedTimes } from "../ledger/ledger-day-reading.ts";
import type { ScopeColumn } from "../ledger/ledger-grains.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-context.ts";

/** Beyond these numbers in an hour, all entries of the hour are read. */
const keysMax = 100;
const placesMax = 1_000;

/** Where rare matches may be, hour by hour. */
export interface RareHours {
  /** The newest hour before a position that may have matches; null: none. */
  before(position: PagePosition): number | null;
  /** The entries of an hour after a position by the keys that have matches in it; null: many. */
  placesIn(hour: number, after: PagePosition): Promise<readonly PagePosition[] | null>;
  /** The search covers the time from here on. */
  readonly from: number;
}

/**
 * The hours that contain a model, provider or group, from the sums of hours and the rollups. null: the filter does not name one, or there
 * are no sums.
 */
export async function rareHours(
  { connection, flavour }: ReportContext,
  filter: RequestFilter,
  start: PagePosition,
): Promise<RareHours | null> {
  const { workspaceId, model, provider, groupId, personId, endpoint } = filter;
  const wanted = { model, provider, group_id: groupId };
  // Sums of hours have each of these columns, but not all together.
  const [found] = Object.entries(wanted).filter(([, value]) => value !== undefined);
  if (found === undefined) return null;
  const [column, value] = found as [ScopeColumn, string];
  const lowest = Math.floor((filter.from ?? 0) / hourMs) * hourMs;
  const end = Math.floor(start.at / hourMs) * hourMs + hourMs;
  const summed = await summedTimes(connection, { from: lowest, to: end });
  const first = summed.hours[0]?.from;
  if (first === undefined) return null;
  // In any workspace: sums by workspace have ten times as many rows.
  const rows = await rollupsWithin(connection, flavour, {
    span: { from: first, to: end },
    summed: { days: [], hours: summed.hours },
    needed: [column],
    columns: ["hour"],
    filter: (given) => given.where(column, "=", value),
  })
    .select("hour")
    .distinct()
    .orderBy("hour", "desc")
    .execute();
  const hours = rows.map(({ hour }) => hour);
  const scope = { ...wanted, person_id: personId, endpoint, workspace_id: workspaceId ?? undefined };
  return {
    from: first,
    before: ({ at, id }) => hours.find((hour) => hour < at || (hour === at && id !== "")) ?? null,
    async placesIn(hour, after) {
      const keys = await connection
        .selectFrom("usage_rollups")
        .select(["workspace_id", "key_id"])
        .distinct()
        .where("hour", "=", hour)
        .where((eb) => eb.and(equalsGiven<Row<"usage_rollups">>(scope)))
        .limit(keysMax + 1)
        .execute();
      if (keys.length > keysMax) return null;
      if (keys.length === 0) return [];
      const unique = (ids: readonly string[]) => [...new Set(ids)];
      // The index of workspaces has these columns, so no entry is read.
      const places = await connection
        .selectFrom("ledger_entries")
        .select(["at", "attempt_id as id"])
        .where("workspace_id", "in", unique(keys.map(({ workspace_id: id }) => id)))
        .where("key_id", "in", unique(keys.map(({ key_id: id }) => id)))
        .where("at", ">=", Math.max(hour, filter.from ?? 0))
        .where("at", "<=", Math.min(hour + hourMs - 1, after.at))
        .limit(placesMax + 1)
        .execute();
      return places.length > placesMax ? null : places;
    },
  };
}
