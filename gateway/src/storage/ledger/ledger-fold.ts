import { CompiledQuery, sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { foldedSketch } from "../database/latency-sketch.ts";
import type { LatencyColumn, Row } from "../database/schema.ts";
import { hasCode } from "../disk/files.ts";
import { commonPerson, personBeside, rollupColumns, rollupScope, rollupSketches, rollupSums } from "./ledger-rollup.ts";

/**
 * PostgreSQL: adds the rows that inserts left in `usage_rollups_tail` to their rollups, as many as `rowsMax`, and
 * resolves to how many there were: 0 when none is left. A row is taken away and added in one transaction, so whenever it ends each counts
 * once. It goes by the rows that are there and by no number, so none that is committed late is passed over. A sum that is larger than a column
 * holds stays at the largest it can: what upstreams say of a few calls keeps no other sums from being folded.
 */
export async function foldRollups(database: Database, rowsMax: number = bounds.foldRows): Promise<number> {
  if (database.flavour.name === "sqlite") return 0;
  // Without calls there is nothing for hours: one question says so, without a transaction.
  const some = await sql`select 1 from usage_rollups_tail limit 1`.execute(database.kysely);
  if (some.rows.length === 0) return 0;
  try {
    return await foldBy(plainStatement, database, rowsMax);
  } catch (thrown) {
    // A sum that is out of range.
    if (!hasCode(thrown, /^22003$/)) throw thrown;
    return await foldBy(boundedStatement, database, rowsMax);
  }
}

async function foldBy(statement: string, database: Database, rowsMax: number): Promise<number> {
  return await database.kysely.transaction().execute(async (transaction) => {
    const query: CompiledQuery = CompiledQuery.raw(statement, [rowsMax]);
    const { rows } = await transaction.executeQuery(query as CompiledQuery<Folded>);
    let taken = 0;
    for (const row of rows) {
      taken = row.taken;
      await shortenRollup(database, transaction, row);
    }
    return taken;
  });
}

export type LongRollup = Pick<Row<"usage_rollups">, (typeof rollupScope)[number]> & {
  readonly [Sketch in LatencyColumn]: string | null;
};

interface Folded extends LongRollup {
  readonly taken: number;
}

/** From here on it is looked whether a sketch could be shorter. */
const longSketch = 1_024;

/** A sketch is written again when that halves it, so that a busy hour is not written whole with each batch. */
export async function shortenRollup(
  { flavour }: Pick<Database, "flavour">,
  transaction: Connection,
  rollup: LongRollup,
): Promise<void> {
  const shorter = rollupSketches.flatMap((sketch) => {
    const long = rollup[sketch];
    if (long === null) return [];
    const folded = foldedSketch(long);
    return folded.length * 2 <= long.length ? [sql`${sql.ref(sketch)} = ${folded}`] : [];
  });
  if (shorter.length === 0) return;
  const same = rollupScope.map((column) => sql`${sql.ref(column)} = ${rollup[column]}`);
  // Of the tail no row is touched: each counts what it alone knows.
  const rollups = flavour.name === "sqlite" ? sql`usage_rollups` : sql`only usage_rollups`;
  await sql`update ${rollups} set ${sql.join(shorter)} where ${sql.join(same, sql` and `)}`.execute(transaction);
}

const names = rollupScope.join(", ");
const joined = rollupSketches.map((sketch) => `${sketch} = kept.${sketch} || excluded.${sketch}`);
const long = rollupSketches.map((name) => `case when length(${name}) > ${longSketch} then ${name} end as ${name}`);

/**
 * Where a rollup is `kept` already, adds another one to it: sums are added up, sketches put behind each other, which reads nothing.
 * Gives back the sketches that have become long, which are then written anew.
 */
export function addToKept(added = (sum: string): string => `kept.${sum} + excluded.${sum}`): string {
  const moved = [...rollupSums.map((sum) => `${sum} = ${added(sum)}`), ...joined].join(", ");
  return `on conflict (${names}) do update set ${moved}, person_id = ${personBeside} returning ${names}, ${long.join(", ")}`;
}

/** PostgreSQL: a sum as its column takes it. */
export function bounded(sum: string): string {
  return `least(${sum}, 9223372036854775807)::bigint`;
}

const plainStatement = statementOf((sum) => `sum(${sum})`, addToKept());
const boundedStatement = statementOf(
  (sum) => bounded(`sum(${sum})`),
  addToKept((sum) => bounded(`kept.${sum}::numeric + excluded.${sum}`)),
);

/** Rollups are written in the order of their keys. Of rows that another one folds at this moment nothing is taken. */
function statementOf(summed: (sum: string) => string, addition: string): string {
  return `
  with taken as (
    delete from usage_rollups_tail
    where ctid = any (array (select ctid from usage_rollups_tail limit $1 for update skip locked))
    returning *
  ), folded as (
    insert into usage_rollups as kept (${rollupColumns.join(", ")})
    select ${names}, ${commonPerson}, ${rollupSums.map(summed).join(", ")},
      ${rollupSketches.map((sketch) => `string_agg(${sketch}, '')`).join(", ")}
    from taken group by ${names} order by ${names}
    ${addition}
  )
  select *, (select count(*) from taken) as taken from folded`;
}
