import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { PollAsk } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { relaxedWrite } from "../database/relaxed-write.ts";

/**
 * When an account may be polled, in one statement, so that any number of processes keep one pace. The row of an account has two
 * ends: `row_ends_at`, behind the last place that was given, for fairness; and `free_at`, a step behind the last poll that was
 * let through, which alone decides when the next one is. So whoever comes late to a place, or never, costs a place and no pace.
 */
export async function takePoll(database: Database, ask: PollAsk): Promise<number | null> {
  const { account, kind } = ask;
  const step = Math.ceil(ask.stepMs);
  const { now, near, at, rowEndsAt, freeAt } = expressions(database, ask, step);
  const row = await relaxedWrite(database, (connection) =>
    connection
      .insertInto("account_polls")
      .values({ account, row_ends_at: ask.now + step, free_at: ask.now + step, given_at: ask.now })
      .onConflict((conflict) => {
        const update = conflict.column("account").doUpdateSet({
          given_at: at,
          row_ends_at: rowEndsAt,
          free_at: sql<number>`case when ${at} <= ${near} then ${at} + ${whole(step)} else ${freeAt} end`,
        });
        return kind === "spare" ? update.where(sql<SqlBool>`${at} <= ${now}`) : update;
      })
      .returning("given_at")
      .executeTakeFirst(),
  );
  return row?.given_at ?? null;
}

export async function forgetPolls(database: Database, before: number): Promise<void> {
  await relaxedWrite(database, (connection) =>
    connection.deleteFrom("account_polls").where("row_ends_at", "<", before).where("free_at", "<", before).execute(),
  );
}

function expressions(
  { flavour }: Database,
  ask: PollAsk,
  step: number,
): Readonly<Record<"now" | "near" | "at" | "rowEndsAt" | "freeAt", RawBuilder<number>>> {
  const greatest = sql.raw(flavour.name === "postgres" ? "greatest" : "max");
  const now = whole(ask.now);
  const near = whole(ask.now + ask.nearMs);
  const rowEnd = sql<number>`account_polls.row_ends_at`;
  const freeAt = sql<number>`account_polls.free_at`;
  const behind = sql<number>`${greatest}(${now}, ${rowEnd}, ${freeAt})`;
  const next = sql<number>`${behind} + ${whole(step)}`;
  if (ask.kind !== "placed") return { now, near, at: behind, rowEndsAt: next, freeAt };
  // Its place has come. Where so many came late that it is not near any more, it gets another place.
  const isNear = sql<SqlBool>`${freeAt} <= ${near}`;
  return {
    now,
    near,
    at: sql<number>`case when ${isNear} then ${greatest}(${now}, ${freeAt}) else ${behind} end`,
    rowEndsAt: sql<number>`case when ${isNear} then ${rowEnd} else ${next} end`,
    freeAt,
  };
}

function whole(value: number): RawBuilder<number> {
  return sql<number>`cast(${value} as bigint)`;
}
