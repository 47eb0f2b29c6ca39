import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Connection, Flavour } from "../database/database.ts";
import type { Row, Tables } from "../database/schema.ts";
import { countedEntries } from "./ledger-counted.ts";
import { cutToDays, gapsBetween, type RollupAsk, type Rollups, type TimeSpan } from "./ledger-day-reading.ts";
import { dayMs, type ScopeColumn } from "./ledger-days.ts";
import { hourMs, rollupScope, severalPeople } from "./ledger-rollup.ts";

/** Of all sums of days only those by key know whose they are. */
const grain = { name: "key", columns: new Set<ScopeColumn>(["workspace_id", "group_id", "key_id"]) } as const;

export interface PeopleTimes {
  /** Of the days given, those in which no key changed hands. */
  readonly days: readonly TimeSpan[];
  /** Whether there is an hour in which one did. */
  readonly shared: boolean;
}

/** Where sums by person may be read from, in the same snapshot. An index has the few rows that are several people's. */
export async function peopleTimes(
  connection: Connection,
  days: readonly TimeSpan[],
  { from, to }: TimeSpan,
): Promise<PeopleTimes> {
  const sharedDays = await connection
    .selectFrom("usage_days")
    .select("hour")
    .distinct()
    .where("person_id", "=", sql.lit(severalPeople))
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .execute();
  const sharedHour = await connection
    .selectFrom("usage_rollups")
    .select("hour")
    .where("person_id", "=", sql.lit(severalPeople))
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .limit(1)
    .executeTakeFirst();
  const shared = new Set(sharedDays.map(({ hour }) => hour));
  return { days: days.flatMap((run) => withoutDays(run, shared)), shared: sharedHour !== undefined };
}

function withoutDays({ from, to }: TimeSpan, left: ReadonlySet<number>): readonly TimeSpan[] {
  const cuts = [...left].filter((day) => day >= from && day < to).sort((a, b) => a - b);
  return gapsBetween(
    cuts.map((day) => ({ from: day, to: day + dayMs })),
    { from, to },
  );
}

/** Whether sums of days have these columns and people. */
export function peopleKnow(columns: Iterable<ScopeColumn>): boolean {
  return [...columns].every((column) => grain.columns.has(column));
}

export interface PeopleAsk extends RollupAsk {
  /** As `peopleTimes` says. */
  readonly shared: boolean;
}

/**
 * Rollups of a time with the person of each, empty for nobody's. In an hour in which a key changed hands its entries are read in the place
 * of its rollups; these have no sketches, so percentiles leave those calls out.
 */
export function peopleWithin(
  connection: Connection,
  { name }: Pick<Flavour, "name">,
  { span, part = "all", days, shared, needed, columns, choose = (rows) => rows }: PeopleAsk,
): Rollups {
  const runs = peopleKnow(needed) ? days.flatMap((run) => cutToDays(run, span)) : [];
  const within = (rows: unknown, { from, to }: TimeSpan) =>
    choose((rows as Rollups).where("hour", ">=", from).where("hour", "<", to));
  const hours = (gap: TimeSpan) => {
    const rows = within(connection.selectFrom("usage_rollups"), gap).where(
      sql<boolean>`person_id is distinct from ${sql.lit(severalPeople)}`,
    );
    return shared && name === "postgres" ? rows.where(unlessShared) : rows;
  };
  const parts = part === "known" ? [] : gapsBetween(runs, span).map(hours);
  for (const run of runs) {
    const summed = connection.selectFrom("usage_days as usage_rollups");
    if (part !== "rest") parts.push(within(summed.where(sql`grain`, "=", sql.lit(grain.name)), run));
    // What is not folded yet is in no day.
    if (name === "postgres" && part !== "known") {
      parts.push(within(connection.selectFrom(sql<object>`usage_rollups_tail`.as("usage_rollups")), run));
    }
  }
  if (shared && part !== "known")
    parts.push(within(connection.selectFrom(sharedEntries(connection, span).as("usage_rollups")), span));
  const read = [...new Set(columns)].filter((column) => column !== "person_id");
  if (parts.length === 0) parts.push(hours({ from: span.from, to: span.from }));
  const [first, ...more] = parts.map((rows) =>
    rows.select(read).select(sql<string>`coalesce(person_id, '')`.as("person_id")),
  );
  let all = first as unknown as SelectQueryBuilder<Tables, "usage_rollups", Row<"usage_rollups">>;
  for (const rows of more) all = all.unionAll(rows as never);
  return connection.selectFrom(all.as("usage_rollups")) as unknown as Rollups;
}

const sameScope = rollupScope.map((column) => `shared.${column} = usage_rollups.${column}`).join(" and ");

/** PostgreSQL: what is not folded yet of a rollup that is several people's already is one person's, and among that rollup's entries. */
export const unlessShared: RawBuilder<boolean> = sql`not exists (
  select 1 from only usage_rollups as shared where shared.person_id = ${sql.lit(severalPeople)} and ${sql.raw(sameScope)})`;

/** The entries of the rollups that are several people's, without sketches; `hour` is the moment of each. */
function sharedEntries(connection: Connection, { from, to }: TimeSpan) {
  const shared = connection
    .selectFrom("usage_rollups")
    .select([
      "hour as shared_hour",
      "key_id as shared_key",
      "group_id as shared_group",
      "workspace_id as shared_workspace",
      "model as shared_model",
      "provider as shared_provider",
    ])
    .where("person_id", "=", sql.lit(severalPeople))
    .where("hour", ">=", from)
    .where("hour", "<", to);
  return countedEntries(connection, { times: false }).innerJoin(shared.as("shared"), (join) =>
    join
      .onRef("key_id", "=", "shared_key")
      .onRef("at", ">=", "shared_hour")
      .on((eb) => eb("at", "<", eb("shared_hour", "+", sql.lit(hourMs))))
      .onRef("group_id", "=", "shared_group")
      .onRef("workspace_id", "=", "shared_workspace")
      .onRef("model", "=", "shared_model")
      .onRef("provider", "=", "shared_provider"),
  );
}
