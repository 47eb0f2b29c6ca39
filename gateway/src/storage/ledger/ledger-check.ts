import { type ExpressionBuilder, type ExpressionWrapper, type RawBuilder, type SqlBool, sql } from "kysely";
import { cacheSavingsOf, costOf, type PriceVersion } from "#core/index.ts";
import type { LedgerCheck, LedgerFault } from "#ports/index.ts";
import { type Connection, type Database, type Flavour, inSnapshot } from "../database/database.ts";
import { foldedSketch, sketchOfText } from "../database/latency-sketch.ts";
import { isAfter, type PagePosition } from "../database/pages.ts";
import type { Tables } from "../database/schema.ts";
import { storedEntry, usageColumns } from "./ledger-columns.ts";
import { summedTimes } from "./ledger-day-reading.ts";
import { dayGrains, dayMs, hourGrains, type TimeSpan } from "./ledger-grains.ts";
import { prunedBefore } from "./ledger-prune.ts";
import { countedEntries, foldedRollups, hourMs, rollupScope, rollupSketches, rollupSums } from "./ledger-rollup.ts";
import { otherTags, readTags } from "./rollup-tags.ts";
import { sessionFaults } from "./session-check.ts";

/** Per check. */
const faultsMax = 100;
const pageRows = 1_000;

/**
 * Checks what the database alone can prove: rollups are the sums of their entries (except hours that retention has reached), days and
 * hours are the sums of their rollups, sessions the sums of their entries, nothing is negative, costs follow from price version and
 * usage, and usage, source and outcome do not contradict each other.
 */
export async function checkLedger(
  database: Database,
  price: (versionId: string) => Promise<PriceVersion | null>,
): Promise<LedgerCheck> {
  const { totals, faults } = await inSnapshot(database, async (snapshot) => ({
    totals: await totalsOf(snapshot),
    faults: [
      ...(await rowFaults(snapshot)),
      ...(await hourFaults(snapshot, database.flavour)),
      ...(await sumFaults(snapshot, database.flavour)),
      ...(await sessionFaults(snapshot, await prunedBefore(snapshot), faultsMax)),
    ],
  }));
  return { ...totals, faults: [...faults, ...(await costFaults(database, price))] };
}

async function totalsOf(connection: Connection): Promise<{ entries: number; costNanoUsd: string }> {
  const row = await connection
    .selectFrom("ledger")
    .select((eb) => [
      eb.fn.countAll<number>().as("entries"),
      // As text, because the sum may exceed 2^53.
      eb.cast<string>(eb.fn.coalesce(eb.fn.sum<number>("cost_nano_usd"), sql.lit(0)), "text").as("cost"),
    ])
    .executeTakeFirstOrThrow();
  return { entries: Number(row.entries), costNanoUsd: row.cost };
}

type Terms = ExpressionBuilder<Tables, "ledger">;
type Term = ExpressionWrapper<Tables, "ledger", SqlBool>;

const someUsageOrCost = (eb: Terms): Term =>
  eb.or([...usageColumns, "cost_nano_usd" as const].map((column) => eb(column, "!=", 0)));

/** Rules about single rows. Each condition selects rows that break it. */
const rowRules: Readonly<Record<string, (eb: Terms) => Term>> = {
  "no count and no amount is negative": (eb) =>
    eb.or([
      ...[...usageColumns, "reserved_nano_usd" as const].map((column) => eb(column, "<", 0)),
      eb.and([eb("cost_nano_usd", "<", 0), eb("cost_source", "!=", "adjustment")]),
    ]),
  "a refused call used nothing": (eb) =>
    eb.and([eb("outcome", "=", "rejected"), eb.or([eb("usage_source", "!=", "none"), someUsageOrCost(eb)])]),
  "usage has a source": (eb) =>
    eb.and([eb("usage_source", "=", "none"), eb("cost_source", "!=", "adjustment"), someUsageOrCost(eb)]),
  "an adjustment is no call, has a reason, and no usage": (eb) =>
    eb.or([
      eb.and([eb("cost_source", "=", "adjustment"), eb("endpoint", "!=", "adjustment")]),
      eb.and([eb("adjustment", "is not", null), eb("endpoint", "!=", "adjustment")]),
      eb.and([
        eb("endpoint", "=", "adjustment"),
        eb.or([
          eb("cost_source", "!=", "adjustment"),
          eb("adjustment", "is", null),
          eb("adjusts", "is", null),
          eb("calls", "!=", 0),
          eb("price_version", "is not", null),
          ...usageColumns.map((column) => eb(column, "!=", 0)),
        ]),
      ]),
    ]),
  "an entry without a price costs nothing": (eb) =>
    eb.and([eb("price_version", "is", null), eb("cost_nano_usd", "!=", 0), eb("cost_source", "=", "price")]),
  "a cost from the vendor equals the vendor's figure": (eb) =>
    eb.and([
      eb("cost_source", "=", "vendor"),
      eb.or([eb("vendor_cost_nano_usd", "is", null), eb("vendor_cost_nano_usd", "!=", eb.ref("cost_nano_usd"))]),
    ]),
  "outcome, usage source and cost source have valid values": (eb) =>
    eb.or([
      eb("cost_source", "not in", ["price", "vendor", "adjustment"]),
      eb("outcome", "not in", ["succeeded", "failed", "cancelled", "interrupted", "rejected"]),
      eb("usage_source", "not in", ["upstream", "estimated", "none"]),
    ]),
};

async function rowFaults(connection: Connection): Promise<readonly LedgerFault[]> {
  const faults: LedgerFault[] = [];
  for (const [rule, broken] of Object.entries(rowRules)) {
    const rows = await connection
      .selectFrom("ledger")
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

/** Row by row, because SQL does not round as the cost rule does. */
async function costFaults(
  database: Database,
  price: (versionId: string) => Promise<PriceVersion | null>,
): Promise<readonly LedgerFault[]> {
  const faults: LedgerFault[] = [];
  let after: PagePosition = { at: Number.MIN_SAFE_INTEGER, id: "" };
  while (faults.length < faultsMax) {
    const rows = await database.kysely
      .selectFrom("ledger")
      .select(["at", "attempt_id", "record"])
      .where(isAfter(["at", "attempt_id"], after, "oldest first"))
      .orderBy("at")
      .orderBy("attempt_id")
      .limit(pageRows)
      .execute();
    for (const row of rows) {
      const entry = storedEntry(row);
      const { priceVersion, usage, costSource = "price", costNanoUsd, ownCostNanoUsd = null } = entry;
      const version = priceVersion === null ? null : await price(priceVersion);
      if (version === null) continue;
      const cost = costOf(version.table, usage);
      const booked = costSource === "price" ? costNanoUsd : ownCostNanoUsd;
      if (cost !== booked) {
        const detail = `attempt ${row.attempt_id}: ${booked} nano-USD, by ${version.id} it is ${cost}`;
        faults.push({ rule: "a cost is its price version times its usage", detail });
      }
      const [saved, { cacheSavedNanoUsd: noted = 0 }] = [cacheSavingsOf(version.table, usage, cost), entry];
      if (saved !== noted) {
        const detail = `attempt ${row.attempt_id}: ${noted} nano-USD, by ${version.id} it is ${saved}`;
        faults.push({ rule: "savings of a cache follow from price version and usage", detail });
      }
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) break;
    after = { at: last.at, id: last.attempt_id };
    // SQLite answers without waiting, so calls that are being served get their turn only here.
    await new Promise(setImmediate);
  }
  return faults;
}

/** Except hours that retention has reached. */
async function hourFaults(connection: Connection, flavour: Flavour): Promise<readonly LedgerFault[]> {
  const from = Math.ceil((await prunedBefore(connection)) / hourMs) * hourMs;
  const { rows } = await sql<{ hour: number }>`
    select hour from usage_rollups where hour >= ${from} union
    select at - at % ${sql.lit(hourMs)} from ledger_entries where at >= ${from} order by 1`.execute(connection);
  return await findInTurn(rows, async ({ hour }) => {
    const entries = countedEntries(connection)
      .where("at", ">=", hour)
      .where("at", "<", hour + hourMs);
    const sums = await differences(connection, flavour, {
      // The tags of a rollup are bounded; see `tagFaults`.
      scope: rollupScope.slice(1).filter((column) => column !== "tags"),
      stored: sql`usage_rollups where hour = ${hour}`,
      computed: sql`${entries} as counted`,
      isTimed: true,
      place: new Date(hour).toISOString(),
      rules: ["a rollup is the sum of its entries", "a rollup's sketches count its entries"],
    });
    return sums.length > 0 ? sums : await tagFaults(connection, hour);
  });
}

interface TagSums {
  readonly workspace_id: string;
  readonly tags: string;
  readonly attempts: number;
}

/**
 * Each call with tags is in a rollup with tags, and no value has more attempts than its entries. Beyond their bounds, values are
 * `(other)`.
 */
async function tagFaults(connection: Connection, hour: number): Promise<readonly LedgerFault[]> {
  const { rows: stored } = await sql<TagSums>`
    select workspace_id, tags, sum(attempts) as attempts from usage_rollups where hour = ${hour} group by 1, 2
  `.execute(connection);
  const { rows: entries } = await sql<TagSums>`
    select workspace_id, tags, sum(calls) as attempts from ledger
    where at >= ${hour} and at < ${hour + hourMs} group by 1, 2`.execute(connection);
  const all = attemptsByTag(entries);
  return [...attemptsByTag(stored)].flatMap(([tag, attempts]) => {
    const [workspace, name = "any tag", value] = JSON.parse(tag) as readonly string[];
    const most = all.get(tag) ?? 0;
    const isWrong = value === undefined ? attempts !== most : value !== otherTags && attempts > most;
    if (!isWrong) return [];
    const place = [new Date(hour).toISOString(), workspace, name, ...(value === undefined ? [] : [value])].join(" / ");
    return [
      { rule: "a rollup has the tags of its entries", detail: `${place}: ${attempts} attempts, ${most} in entries` },
    ];
  });
}

/** Attempts by workspace and tag, and of each workspace with any tag: names are JSON of both, or of the workspace. */
function attemptsByTag(rows: readonly TagSums[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  const add = (name: readonly string[], attempts: number) => {
    const text = JSON.stringify(name);
    sums.set(text, (sums.get(text) ?? 0) + attempts);
  };
  for (const { workspace_id, tags, attempts } of rows) {
    const pairs = readTags(tags);
    add([workspace_id], pairs.length === 0 ? 0 : Number(attempts));
    for (const [name, value] of pairs) add([workspace_id, name, value], Number(attempts));
  }
  return sums;
}

/**
 * Sums of days and hours are checked against their rollups, which are checked against entries. This also covers times without entries.
 */
async function sumFaults(connection: Connection, flavour: Flavour): Promise<readonly LedgerFault[]> {
  const { days, hours } = await summedTimes(connection, always, { runsMax: Number.POSITIVE_INFINITY });
  const byDay = (runs: readonly TimeSpan[]) => runs.flatMap(splitByDay);
  const sums = [
    ...byDay(days).flatMap((span) => dayGrains.map((grain) => ({ span, table: "usage_days", scope: [], grain }))),
    ...byDay(hours).flatMap((span) =>
      hourGrains.map((grain) => ({ span, table: "usage_hours", scope: ["hour"], grain })),
    ),
  ];
  return await findInTurn(sums, async ({ span: { from, to }, table, scope, grain }) => {
    const rollups = foldedRollups(flavour);
    const time = sql`hour >= ${from} and hour < ${to}`;
    return await differences(connection, flavour, {
      scope: [...scope, ...grain.scope],
      stored: sql`${sql.table(table)} where grain = ${grain.name} and ${time}`,
      computed: sql`${rollups} where ${time}`,
      place: `${new Date(from).toISOString().slice(0, 10)} by ${grain.name}`,
      rules:
        table === "usage_days"
          ? ["a day is the sum of its hours", "a day's sketches are the sums of its hours"]
          : ["a group of an hour is the sum of its rollups", "a group's sketches are the sums of its rollups"],
    });
  });
}

const always = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER };

function splitByDay({ from, to }: TimeSpan): readonly TimeSpan[] {
  const parts: TimeSpan[] = [];
  for (let at = from; at < to; at = (Math.floor(at / dayMs) + 1) * dayMs) {
    parts.push({ from: at, to: Math.min((Math.floor(at / dayMs) + 1) * dayMs, to) });
  }
  return parts;
}

async function findInTurn<Part>(
  parts: readonly Part[],
  find: (part: Part) => Promise<readonly LedgerFault[]>,
): Promise<readonly LedgerFault[]> {
  const faults: LedgerFault[] = [];
  for (const part of parts) {
    faults.push(...(await find(part)));
    if (faults.length >= faultsMax) break;
    // SQLite answers synchronously: give others a turn.
    await new Promise(setImmediate);
  }
  return faults.slice(0, faultsMax);
}

interface Comparison {
  /** Columns that identify rows in both. */
  readonly scope: readonly string[];
  readonly stored: RawBuilder<unknown>;
  readonly computed: RawBuilder<unknown>;
  /** `computed` has single durations in milliseconds instead of sketches. */
  readonly isTimed?: boolean;
  readonly place: string;
  readonly rules: readonly [sums: string, sketches: string];
}

type SumRow = Readonly<Record<string, string | number | null>>;

/** Adds up stored rows and negated computed rows: all sums must be 0. Sketches are compared where sums agree. */
async function differences(
  connection: Connection,
  { name }: Flavour,
  { scope, stored, computed, isTimed = false, place, rules }: Comparison,
): Promise<readonly LedgerFault[]> {
  const joined = name === "postgres" ? "string_agg" : "group_concat";
  const columns = (sign: "" | "-") => [
    ...rollupSums.map((sum) => `${sign}${sum} as ${sum}`),
    ...rollupSketches.map((sketch) => (sign === "" ? `${sketch} as ${sketch}` : `'' as ${sketch}`)),
    ...rollupSketches.map((sketch) =>
      sign === "" ? `'' as own_${sketch}` : `cast(${sketch} as text) as own_${sketch}`,
    ),
  ];
  const totals = [
    ...rollupSums.map((sum) => `sum(${sum}) as ${sum}`),
    ...rollupSketches.map((sketch) => `${joined}(${sketch}, '') as ${sketch}`),
    ...rollupSketches.map((sketch) => `${joined}(own_${sketch}, '${isTimed ? " " : ""}') as own_${sketch}`),
  ];
  const select = (list: readonly string[]) => sql.raw([...scope, ...list].join(", "));
  const { rows } = await sql<SumRow>`
    select ${select(totals)} from (
      select ${select(columns(""))} from ${stored} union all select ${select(columns("-"))} from ${computed}
    ) as compared group by ${select([])}`.execute(connection);
  return rows.flatMap((row) => {
    const where = `${place} ${scope.map((column) => row[column]).join(" / ")}: off in`;
    const sums = rollupSums.filter((sum) => Number(row[sum]) !== 0);
    if (sums.length > 0) {
      return [{ rule: rules[0], detail: `${where} ${sums.map((sum) => `${sum} by ${row[sum]}`).join(", ")}` }];
    }
    const sketches = rollupSketches.filter((sketch) => {
      const own = String(row[`own_${sketch}`] ?? "");
      const sketched = isTimed ? own.split(" ").map(sketchOfText).join("") : own;
      return foldedSketch(String(row[sketch] ?? "")) !== foldedSketch(sketched);
    });
    return sketches.length === 0 ? [] : [{ rule: rules[1], detail: `${where} ${sketches.join(", ")}` }];
  });
}
