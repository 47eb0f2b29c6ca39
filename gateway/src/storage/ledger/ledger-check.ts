import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from "kysely";
import { costOf, type PriceVersion } from "#core/index.ts";
import type { LedgerCheck, LedgerFault } from "#ports/index.ts";
import { type Connection, type Database, type Flavour, inSnapshot } from "../database/database.ts";
import { foldedSketch } from "../database/latency-sketch.ts";
import type { LatencyColumn, Tables } from "../database/schema.ts";
import { usageColumnOf, usageOf } from "./ledger-columns.ts";
import { type DayGrain, dayGrains, dayMs } from "./ledger-days.ts";
import { prunedBefore } from "./ledger-prune.ts";
import {
  addTimes,
  countedEntries,
  hourMs,
  noSketches,
  rollupScope,
  rollupSketches,
  rollupSums,
} from "./ledger-rollup.ts";

/** Faults named for each rule; more of the same tell nothing new. */
const faultsMax = 100;
const pageRows = 1_000;

/**
 * What can be proven inside the database: every rollup is the sum of its entries (hours that lost entries to
 * retention excepted), every day that is summed the sum of its hours, nothing is negative, every cost is its price version times its usage, and usage, source and
 * outcome do not contradict each other.
 */
export async function checkLedger(
  database: Database,
  price: (versionId: string) => Promise<PriceVersion | null>,
): Promise<LedgerCheck> {
  const { totals, faults } = await inSnapshot(database, async (snapshot) => ({
    totals: await totalsOf(snapshot),
    faults: [
      ...(await rowFaults(snapshot)),
      ...(await rollupFaults(snapshot)),
      ...(await sketchFaults(snapshot)),
      ...(await dayFaults(snapshot, database.flavour)),
    ],
  }));
  return { ...totals, faults: [...faults, ...(await costFaults(database, price))] };
}

async function totalsOf(connection: Connection): Promise<{ entries: number; costNanoUsd: string }> {
  const row = await connection
    .selectFrom("ledger_entries")
    .select((eb) => [
      eb.fn.countAll<number>().as("entries"),
      // As text: a sum over years may be more than a number holds exactly.
      eb.cast<string>(eb.fn.coalesce(eb.fn.sum<number>("cost_nano_usd"), sql.lit(0)), "text").as("cost"),
    ])
    .executeTakeFirstOrThrow();
  return { entries: Number(row.entries), costNanoUsd: row.cost };
}

type Terms = ExpressionBuilder<Tables, "ledger_entries">;
type Term = ExpressionWrapper<Tables, "ledger_entries", SqlBool>;

/** In the order `rollupSums` has them: a union goes by position. */
const usageColumns = Object.values(usageColumnOf);

const someUsageOrCost = (eb: Terms): Term =>
  eb.or([...usageColumns, "cost_nano_usd" as const].map((column) => eb(column, "!=", 0)));

/** Rules about one row alone: what a broken row looks like. */
const rowRules: Readonly<Record<string, (eb: Terms) => Term>> = {
  "no count and no amount is negative": (eb) =>
    eb.or([...usageColumns, "cost_nano_usd" as const, "reserved_nano_usd" as const].map((c) => eb(c, "<", 0))),
  "a refused call used nothing": (eb) =>
    eb.and([eb("outcome", "=", "rejected"), eb.or([eb("usage_source", "!=", "none"), someUsageOrCost(eb)])]),
  "usage has a source": (eb) => eb.and([eb("usage_source", "=", "none"), someUsageOrCost(eb)]),
  "what has no price costs nothing": (eb) =>
    eb.and([eb("price_version", "is", null), eb("cost_nano_usd", "!=", 0), eb("cost_source", "!=", "vendor")]),
  "a cost that the vendor says is the vendor's figure": (eb) =>
    eb.and([
      eb("cost_source", "=", "vendor"),
      eb.or([eb("vendor_cost_nano_usd", "is", null), eb("vendor_cost_nano_usd", "!=", eb.ref("cost_nano_usd"))]),
    ]),
  "outcome, usage source and cost source are known words": (eb) =>
    eb.or([
      eb("cost_source", "not in", ["price", "vendor"]),
      eb("outcome", "not in", ["succeeded", "failed", "cancelled", "interrupted", "rejected"]),
      eb("usage_source", "not in", ["upstream", "estimated", "none"]),
    ]),
};

async function rowFaults(connection: Connection): Promise<readonly LedgerFault[]> {
  const faults: LedgerFault[] = [];
  for (const [rule, broken] of Object.entries(rowRules)) {
    const rows = await connection
      .selectFrom("ledger_entries")
      .select(["attempt_id", "request_id", "outcome", "usage_source", "cost_nano_usd"])
      .where(broken)
      .limit(faultsMax)
      .execute();
    for (const row of rows) {
      const found = `${row.outcome}, usage ${row.usage_source}, ${row.cost_nano_usd} nano-USD`;
      faults.push({ rule, detail: `attempt ${row.attempt_id} of request ${row.request_id}: ${found}` });
    }
  }
  return faults;
}

const rollupRule = "a rollup is the sum of its entries";

/** Rollups and the same sums taken from the entries, put under each other with opposite signs: all must cancel out. */
async function rollupFaults(connection: Connection): Promise<readonly LedgerFault[]> {
  const wholeFrom = Math.ceil((await prunedBefore(connection)) / hourMs) * hourMs;
  const kept = connection
    .selectFrom("usage_rollups")
    .select([...rollupScope, ...rollupSums])
    .where("hour", ">=", wholeFrom);
  const counted = connection
    .selectFrom(countedEntries(connection).as("counted"))
    .select((eb) => [
      sql<number>`${eb.ref("hour")} - ${eb.ref("hour")} % ${sql.lit(hourMs)}`.as("hour"),
      ...rollupScope.slice(1).map((column) => eb.ref(column as Exclude<typeof column, "hour">).as(column)),
      ...rollupSums.map((column) => sql<number>`-${eb.ref(column)}`.as(column)),
    ])
    .where("hour", ">=", wholeFrom);
  const wrong = await connection
    .selectFrom(kept.unionAll(counted as unknown as typeof kept).as("both"))
    .select([...rollupScope])
    .select((eb) => rollupSums.map((column) => eb.fn.sum<number>(column).as(column)))
    .groupBy([...rollupScope])
    .having((eb) => eb.or(rollupSums.map((column) => eb(eb.fn.sum<number>(column), "!=", 0))))
    .limit(faultsMax)
    .execute();
  return wrong.map((row) => {
    const scope = rollupScope
      .slice(1)
      .map((column) => row[column])
      .join(" / ");
    const off = rollupSums.filter((column) => Number(row[column]) !== 0).map((c) => `${c} by ${row[c]}`);
    return {
      rule: rollupRule,
      detail: `${new Date(Number(row.hour)).toISOString()} ${scope}: off in ${off.join(", ")}`,
    };
  });
}

/** Row by row, since only whole-number arithmetic outside SQL rounds as the cost rule says. */
async function costFaults(
  database: Database,
  price: (versionId: string) => Promise<PriceVersion | null>,
): Promise<readonly LedgerFault[]> {
  const faults: LedgerFault[] = [];
  let after = "";
  while (faults.length < faultsMax) {
    const rows = await database.kysely
      .selectFrom("ledger_entries")
      .select(["attempt_id", "price_version", "cost_source", "cost_nano_usd", "own_cost_nano_usd", ...usageColumns])
      .where("attempt_id", ">", after)
      .orderBy("attempt_id")
      .limit(pageRows)
      .execute();
    for (const row of rows) {
      const version = row.price_version === null ? null : await price(row.price_version);
      if (version === null) continue;
      const cost = costOf(version.table, usageOf(row));
      const booked = row.cost_source === "price" ? row.cost_nano_usd : row.own_cost_nano_usd;
      if (cost === booked) continue;
      const detail = `attempt ${row.attempt_id}: ${booked} nano-USD, by ${version.id} it is ${cost}`;
      faults.push({ rule: "a cost is its price version times its usage", detail });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) break;
    after = last.attempt_id;
    // SQLite answers without waiting, so calls that are being served get their turn only here.
    await new Promise(setImmediate);
  }
  return faults;
}

const sumRule = "a day is the sum of its hours";
const sketchRule = "a day's sketches are those of its hours";

/**
 * Every day whose sums are read has by each grain what its hours have. Hours are checked against the entries elsewhere; days against hours
 * also where the entries are gone.
 */
async function dayFaults(connection: Connection, { name }: Pick<Flavour, "name">): Promise<readonly LedgerFault[]> {
  const faults: LedgerFault[] = [];
  const days = await connection
    .selectFrom("summed_days")
    .select("day")
    .whereRef("summed", "=", "touched")
    .orderBy("day")
    .execute();
  for (const { day } of days) {
    for (const grain of dayGrains) faults.push(...(await grainFaults(connection, name, day, grain)));
    if (faults.length >= faultsMax) break;
    // SQLite answers without waiting, so others get their turn only here.
    await new Promise(setImmediate);
  }
  return faults.slice(0, faultsMax);
}

type SumRow = Readonly<Record<string, string | number>>;

/** Day and hours under each other with opposite signs: all must cancel out. */
async function grainFaults(
  connection: Connection,
  name: Flavour["name"],
  day: number,
  grain: DayGrain,
): Promise<readonly LedgerFault[]> {
  const joined = name === "postgres" ? "string_agg" : "group_concat";
  const scope = grain.scope.join(", ");
  const columns = (sign: "" | "-") =>
    [
      ...rollupSums.map((sum) => `${sign}${sum} as ${sum}`),
      ...rollupSketches.flatMap((sketch) =>
        sign === ""
          ? [`${sketch} as ${sketch}`, `'' as hours_${sketch}`]
          : [`'' as ${sketch}`, `${sketch} as hours_${sketch}`],
      ),
    ].join(", ");
  const totals = [
    ...rollupSums.map((sum) => `sum(${sum}) as ${sum}`),
    ...rollupSketches.flatMap((sketch) => [
      `${joined}(${sketch}, '') as ${sketch}`,
      `${joined}(hours_${sketch}, '') as hours_${sketch}`,
    ]),
  ].join(", ");
  const { rows } = await sql<SumRow>`
    select ${sql.raw(scope)}, ${sql.raw(totals)} from (
      select ${sql.raw(scope)}, ${sql.raw(columns(""))} from usage_days where grain = ${grain.name} and hour = ${day}
      union all
      select ${sql.raw(scope)}, ${sql.raw(columns("-"))} from ${sql.raw(name === "postgres" ? "only usage_rollups" : "usage_rollups")}
      where hour >= ${day} and hour < ${day + dayMs}
    ) as compared group by ${sql.raw(scope)}`.execute(connection);
  return rows.flatMap((row) => {
    const of = grain.scope.map((column) => row[column]).join(" / ");
    const where = `${new Date(day).toISOString().slice(0, 10)} by ${grain.name} ${of}: off in`;
    const sums = rollupSums.filter((sum) => Number(row[sum]) !== 0);
    const sketches = rollupSketches.filter(
      (sketch) => foldedSketch(String(row[sketch] ?? "")) !== foldedSketch(String(row[`hours_${sketch}`] ?? "")),
    );
    if (sums.length > 0)
      return [{ rule: sumRule, detail: `${where} ${sums.map((sum) => `${sum} by ${row[sum]}`).join(", ")}` }];
    return sketches.length > 0 ? [{ rule: sketchRule, detail: `${where} ${sketches.join(", ")}` }] : [];
  });
}

const sketchedRows = 5_000;
const countRule = "a rollup's sketches count its entries";

/** Every sketch counts exactly the entries of its rollup. */
async function sketchFaults(connection: Connection): Promise<readonly LedgerFault[]> {
  const from = Math.ceil((await prunedBefore(connection)) / hourMs) * hourMs;
  const faults: LedgerFault[] = [];
  for (const hour of await hoursFrom(connection, from)) {
    const counted = await sketchesOfEntries(connection, hour);
    for (const { scope, sketches } of await rollupsOfHour(connection, hour)) {
      const own = counted.get(scope) ?? noSketches;
      const off = rollupSketches.filter((column) => foldedSketch(sketches[column]) !== foldedSketch(own[column]));
      if (off.length === 0) continue;
      faults.push({ rule: countRule, detail: `${new Date(hour).toISOString()} ${scope}: off in ${off.join(", ")}` });
      if (faults.length === faultsMax) return faults;
    }
    // SQLite answers without waiting, so others get their turn only here.
    await new Promise(setImmediate);
  }
  return faults;
}

async function hoursFrom(connection: Connection, from: number): Promise<readonly number[]> {
  const rows = await connection
    .selectFrom("usage_rollups")
    .select("hour")
    .distinct()
    .where("hour", ">=", from)
    .orderBy("hour")
    .execute();
  return rows.map(({ hour }) => hour);
}

const scopeColumns = ["workspace_id", "group_id", "key_id", "model", "provider"] as const satisfies readonly Exclude<
  (typeof rollupScope)[number],
  "hour"
>[];

type Scope = Readonly<Record<(typeof scopeColumns)[number], string>>;

function scopeOf(row: Scope): string {
  return scopeColumns.map((column) => row[column]).join(" / ");
}

/** One of each scope: what is not folded yet stands in rows beside it. */
async function rollupsOfHour(connection: Connection, hour: number): Promise<readonly RollupTimes[]> {
  const rows = await connection.selectFrom("usage_rollups").selectAll().where("hour", "=", hour).execute();
  const scopes = Map.groupBy(rows, scopeOf);
  return [...scopes].map(([scope, of]) => {
    const sketches = { ...noSketches };
    for (const row of of) for (const column of rollupSketches) sketches[column] += row[column];
    return { scope, sketches };
  });
}

interface RollupTimes {
  readonly scope: string;
  readonly sketches: Readonly<Record<LatencyColumn, string>>;
}

/** The sketches that the entries of an hour make, by the rest of their rollup's scope. */
async function sketchesOfEntries(connection: Connection, hour: number) {
  const sketches = new Map<string, Record<LatencyColumn, string>>();
  for (let after = { at: hour, id: "" }; ; ) {
    const rows = await connection
      .selectFrom("ledger_entries")
      .select([
        ...scopeColumns,
        "at",
        "attempt_id",
        "outcome",
        "calls",
        "started_after_ms",
        "total_ms",
        "first_token_ms",
      ])
      .where((eb) => eb(eb.refTuple("at", "attempt_id"), ">", eb.tuple(after.at, after.id)))
      .where("at", "<", hour + hourMs)
      .orderBy("at")
      .orderBy("attempt_id")
      .limit(sketchedRows)
      .execute();
    for (const row of rows) {
      if (row.outcome !== "succeeded" || row.calls === 0) continue;
      const scope = scopeOf(row);
      let own = sketches.get(scope);
      if (own === undefined) {
        own = { ...noSketches };
        sketches.set(scope, own);
      }
      const { started_after_ms: startedAfterMs, total_ms: totalMs, first_token_ms: firstTokenMs } = row;
      addTimes(own, { startedAfterMs, totalMs, firstTokenMs });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < sketchedRows) return sketches;
    after = { at: last.at, id: last.attempt_id };
  }
}
