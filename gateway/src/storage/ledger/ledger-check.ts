import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from "kysely";
import { costOf, type PriceVersion } from "#core/index.ts";
import type { LedgerCheck, LedgerFault } from "#ports/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { inSnapshot } from "../database/database.ts";
import type { Tables } from "../database/schema.ts";
import { usageColumnOf, usageOf } from "./ledger-columns.ts";
import { countedEntries } from "./ledger-counted.ts";
import { dayFaults } from "./ledger-day-check.ts";
import { prunedBefore } from "./ledger-prune.ts";
import { hourMs, rollupScope, rollupSums } from "./ledger-rollup.ts";
import { sketchFaults } from "./ledger-sketch-check.ts";

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
