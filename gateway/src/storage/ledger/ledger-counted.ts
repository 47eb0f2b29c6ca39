import { type ExpressionBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Connection } from "../database/database.ts";
import { durations, spansOf } from "../database/latency-histogram.ts";
import type { Row, Tables } from "../database/schema.ts";
import { usageColumnOf } from "./ledger-columns.ts";

/** `hour` is the moment the entry began. */
type Counted = SelectQueryBuilder<Tables, "ledger_entries", Row<"usage_rollups">>;

/** Each entry as a rollup of it alone: what `rollupsOf` makes of entries, for sums that the database itself makes. */
export function countedEntries(connection: Connection): Counted {
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
      eb.case().when("outcome", "=", "succeeded").then(sql.lit(1)).else(sql.lit(0)).end().as("succeeded"),
      eb.case().when("outcome", "=", "cancelled").then(eb.ref("calls")).else(sql.lit(0)).end().as("cancelled"),
      ...countedDurations(eb),
    ]);
  // The type of the list of spans knows no names.
  return counted as unknown as Counted;
}

function countedDurations(eb: ExpressionBuilder<Tables, "ledger_entries">) {
  return durations.flatMap((duration) =>
    spansOf(duration).map(({ column, from, to }) => {
      // What is unknown is in no span. The bounds come first: most entries are told from a span by one of them.
      const terms = [];
      if (to !== null) terms.push(eb(duration, "<=", sql.lit(to)));
      if (from !== null) terms.push(eb(duration, ">", sql.lit(from)));
      terms.push(eb("outcome", "=", sql.lit("succeeded")));
      return eb.case().when(eb.and(terms)).then(sql.lit(1)).else(sql.lit(0)).end().as(column);
    }),
  );
}
