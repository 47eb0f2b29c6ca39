import { sql } from "kysely";
import type { LedgerFault } from "#ports/index.ts";
import type { Connection, Flavour } from "../database/database.ts";
import { foldedSketch } from "../database/latency-sketch.ts";
import { type DayGrain, dayGrains, dayMs } from "./ledger-days.ts";
import { rollupSketches, rollupSums } from "./ledger-rollup.ts";

/** Faults named; more of the same tell nothing new. */
const faultsMax = 100;
const sumRule = "a day is the sum of its hours";
const sketchRule = "a day's sketches are those of its hours";

/**
 * Every day whose sums are read has by each grain what its hours have. Hours are checked against the entries elsewhere; days against hours
 * also where the entries are gone.
 */
export async function dayFaults(
  connection: Connection,
  { name }: Pick<Flavour, "name">,
): Promise<readonly LedgerFault[]> {
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
