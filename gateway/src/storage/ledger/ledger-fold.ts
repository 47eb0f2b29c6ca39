import { CompiledQuery, sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { foldedSketch } from "../database/latency-sketch.ts";
import type { LatencyColumn, Row } from "../database/schema.ts";
import { hasCode } from "../disk/files.ts";
import { foldedRollups, rollupColumns, rollupScope, rollupSketches, rollupSums } from "./ledger-rollup.ts";

/**
 * PostgreSQL: merges up to `rowsMax` rows of `usage_rollups_tail` into their rollups; resolves to their number, 0 if none is left. Rows
 * are moved in one transaction, so each counts once. Sums that exceed bigint are clamped, so that a few absurd values do not block the
 * others.
 */
export async function foldRollups(database: Database, rowsMax: number = bounds.foldRows): Promise<number> {
  if (database.flavour.name === "sqlite") return 0;
  // Without calls, one query is enough.
  const some = await sql`select 1 from usage_rollups_tail limit 1`.execute(database.kysely);
  if (some.rows.length === 0) return 0;
  try {
    return await foldBy(plainStatement, database, rowsMax);
  } catch (thrown) {
    // numeric_value_out_of_range
    if (!hasCode(thrown, /^22003$/)) throw thrown;
    return await foldBy(boundedStatement, database, rowsMax);
  }
}

async function foldBy(statement: string, database: Database, rowsMax: number): Promise<number> {
  return await database.kysely.transaction().execute(async (transaction) => {
    const query: CompiledQuery = CompiledQuery.raw(statement, [rowsMax]);
    const { rows } = await transaction.executeQuery(query as CompiledQuery<Folded>);
    let picked = 0;
    for (const row of rows) {
      picked = row.picked;
      await shortenRollup(database, transaction, row);
    }
    return picked;
  });
}

export type LongRollup = Pick<Row<"usage_rollups">, (typeof rollupScope)[number]> & {
  readonly [Sketch in LatencyColumn]: string | null;
};

interface Folded extends LongRollup {
  readonly picked: number;
}

/** Longer sketches are checked for rewriting. */
const longSketch = 1_024;

/** Rewrites sketches only if that halves them, so that a busy hour is not rewritten with every batch. */
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
  const rollups = foldedRollups(flavour);
  await sql`update ${rollups} set ${sql.join(shorter)} where ${sql.join(same, sql` and `)}`.execute(transaction);
}

const names = rollupScope.join(", ");
const joined = rollupSketches.map((sketch) => `${sketch} = kept.${sketch} || excluded.${sketch}`);
const long = rollupSketches.map((name) => `case when length(${name}) > ${longSketch} then ${name} end as ${name}`);

/** On conflict, adds sums and appends sketches, which needs no read. Returns sketches that have become long. */
export function addToKept(added = (sum: string): string => `kept.${sum} + excluded.${sum}`): string {
  const moved = [...rollupSums.map((sum) => `${sum} = ${added(sum)}`), ...joined].join(", ");
  return `on conflict (${names}) do update set ${moved} returning ${names}, ${long.join(", ")}`;
}

/** PostgreSQL: clamps a sum to bigint. */
export function bounded(sum: string): string {
  return `least(${sum}, 9223372036854775807)::bigint`;
}

const plainStatement = statementOf((sum) => `sum(${sum})`, addToKept());
const boundedStatement = statementOf(
  (sum) => bounded(`sum(${sum})`),
  addToKept((sum) => bounded(`kept.${sum}::numeric + excluded.${sum}`)),
);

/** Writes rollups in key order, and skips rows that another fold has locked. */
function statementOf(summed: (sum: string) => string, addition: string): string {
  return `
  with picked as (
    delete from usage_rollups_tail
    where ctid = any (array (select ctid from usage_rollups_tail limit $1 for update skip locked))
    returning *
  ), folded as (
    insert into usage_rollups as kept (${rollupColumns.join(", ")})
    select ${names}, ${rollupSums.map(summed).join(", ")},
      ${rollupSketches.map((sketch) => `string_agg(${sketch}, '')`).join(", ")}
    from picked group by ${names} order by ${names}
    ${addition}
  )
  select *, (select count(*) from picked) as picked from folded`;
}
