import type { LedgerFault } from "#ports/index.ts";
import type { Connection } from "../database/database.ts";
import { foldedSketch } from "../database/latency-sketch.ts";
import type { LatencyColumn } from "../database/report-tables.ts";
import { prunedBefore } from "./ledger-prune.ts";
import { addTimes, hourMs, noSketches, type rollupScope, rollupSketches } from "./ledger-rollup.ts";

/** Faults named; more of the same tell nothing new. */
const faultsMax = 100;
const pageRows = 5_000;
const rule = "a rollup's sketches count its entries";

/** Every sketch counts exactly the entries of its rollup. */
export async function sketchFaults(connection: Connection): Promise<readonly LedgerFault[]> {
  const from = Math.ceil((await prunedBefore(connection)) / hourMs) * hourMs;
  const faults: LedgerFault[] = [];
  for (const hour of await hoursFrom(connection, from)) {
    const counted = await sketchesOfEntries(connection, hour);
    for (const { scope, sketches } of await rollupsOfHour(connection, hour)) {
      const own = counted.get(scope) ?? noSketches;
      const off = rollupSketches.filter((column) => foldedSketch(sketches[column]) !== foldedSketch(own[column]));
      if (off.length === 0) continue;
      faults.push({ rule, detail: `${new Date(hour).toISOString()} ${scope}: off in ${off.join(", ")}` });
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
      .limit(pageRows)
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
    if (last === undefined || rows.length < pageRows) return sketches;
    after = { at: last.at, id: last.attempt_id };
  }
}
