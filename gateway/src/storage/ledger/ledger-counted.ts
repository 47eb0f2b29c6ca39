import { type ExpressionBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Connection } from "../database/database.ts";
import type { LatencyColumn, Row, Tables } from "../database/schema.ts";
import { usageColumnOf } from "./ledger-columns.ts";
import { rollupSketches, vendorSums } from "./ledger-rollup.ts";

/** `hour` is the moment the entry began. */
type Counted = SelectQueryBuilder<Tables, "ledger_entries", Row<"usage_rollups">>;

/**
 * Each entry as a rollup of it alone: what `rollupsOf` makes of entries, for sums that the database itself makes. In the place of a
 * sketch stands the one time that it would count, in milliseconds, or null; or, without times, a sketch of nothing. The person of
 * nobody's entry is empty.
 */
export function countedEntries(connection: Connection, { times = true }: { readonly times?: boolean } = {}): Counted {
  const counted = connection
    .selectFrom("ledger_entries")
    .select([
      "at as hour",
      "workspace_id",
      "group_id",
      "key_id",
      "model",
      "provider",
      ...Object.values(usageColumnOf),
      "cost_nano_usd",
    ])
    .select((eb) => [
      "calls as attempts",
      eb.case().when("retry_index", "=", 0).then(eb.ref("calls")).else(sql.lit(0)).end().as("requests"),
      eb.case().when("outcome", "=", "succeeded").then(eb.ref("calls")).else(sql.lit(0)).end().as("succeeded"),
      eb.case().when("outcome", "=", "cancelled").then(eb.ref("calls")).else(sql.lit(0)).end().as("cancelled"),
      sql<string>`coalesce(${eb.ref("person_id")}, '')`.as("person_id"),
      sql.raw<number>(vendorSums.vendor_cost_nano_usd).as("vendor_cost_nano_usd"),
      sql.raw<number>(vendorSums.compared_cost_nano_usd).as("compared_cost_nano_usd"),
      ...(times ? countedTimes(eb) : nothingTimed),
    ]);
  // The type of the list of times knows no names.
  return counted as unknown as Counted;
}

function countedTimes(eb: ExpressionBuilder<Tables, "ledger_entries">) {
  const times = {
    call_ms_sketch: sql`started_after_ms + total_ms`,
    call_first_token_ms_sketch: sql`started_after_ms + first_token_ms`,
    attempt_ms_sketch: sql`total_ms`,
    attempt_first_token_ms_sketch: sql`first_token_ms`,
  } satisfies Record<LatencyColumn, unknown>;
  return Object.entries(times).map(([column, ms]) =>
    eb
      .case()
      .when(sql<boolean>`outcome = 'succeeded' and calls > 0`)
      .then(ms)
      .end()
      .as(column as LatencyColumn),
  );
}

const nothingTimed = rollupSketches.map((column) => sql<string>`''`.as(column));
