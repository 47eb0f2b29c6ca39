import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { LeasedTask, PollAsk, Vault } from "#ports/index.ts";
import { type Database, relaxedWrite } from "../database/database.ts";
import { leaseIsFree, newLeaseToken, updateDue } from "../database/leases.ts";
import { writtenOnce } from "../database/written-once.ts";
import { requestOfTask, wholeTask } from "./task-rows.ts";

/** Takes tasks that are due and that nobody works on, in one statement: what two passes see, only one gets. */
export async function leaseDue(
  database: Database,
  vault: Vault,
  { now, leaseMs, limit }: { readonly now: number; readonly leaseMs: number; readonly limit: number },
): Promise<readonly LeasedTask[]> {
  const lease = newLeaseToken();
  const untilMs = now + leaseMs;
  const rows = await relaxedWrite(database, (connection) =>
    updateDue(database, connection, "tasks", { now, limit, only: leaseIsFree(now) })
      .set({ lease, leased_until: untilMs })
      .where("final", "=", sql.lit(0))
      .returningAll()
      .returning(requestOfTask)
      .execute(),
  );
  const tasks = rows.map((row) => ({ task: wholeTask(row, vault), lease, untilMs }));
  return tasks.sort((a, b) => (a.task.dueAt ?? 0) - (b.task.dueAt ?? 0) || (a.task.id < b.task.id ? -1 : 1));
}

/** Of what `leaseDue` and `leaseDeliveries` would take, when the first can be taken. One statement, which writes nothing. */
export function nextDue(database: Database): (now: number) => Promise<number | null> {
  const written = writtenOnce((place: (name: "now") => never) =>
    database.reading.selectNoFrom((eb) => [
      eb
        .selectFrom("tasks")
        .select("due_at")
        .where("due_at", "is not", null)
        .where("final", "=", sql.lit(0))
        .where(leaseIsFree(place("now")))
        .orderBy("due_at")
        .limit(1)
        .as("task"),
      eb
        .selectFrom("webhook_deliveries")
        .select("due_at")
        .where("due_at", "is not", null)
        .orderBy("due_at")
        .limit(1)
        .as("message"),
    ]),
  );
  return async (now) => {
    const { rows } = await database.reading.executeQuery(written({ now }));
    const { task = null, message = null } = rows[0] ?? {};
    if (task === null || message === null) return task ?? message;
    return Math.min(task, message);
  };
}

export async function leaseOne(
  database: Database,
  vault: Vault,
  id: string,
  { now, leaseMs }: { readonly now: number; readonly leaseMs: number },
): Promise<LeasedTask | null> {
  const lease = newLeaseToken();
  const untilMs = now + leaseMs;
  const row = await relaxedWrite(database, (connection) =>
    connection
      .updateTable("tasks")
      .set({ lease, leased_until: untilMs })
      .where("id", "=", id)
      .where("final", "=", sql.lit(0))
      .where(leaseIsFree(now))
      .returningAll()
      .returning(requestOfTask)
      .executeTakeFirst(),
  );
  return row === undefined ? null : { task: wholeTask(row, vault), lease, untilMs };
}

/** What is due sooner stays so, that a hint never puts a look off. */
export async function hurryTask(database: Database, id: string, now: number): Promise<void> {
  await relaxedWrite(database, (connection) =>
    connection
      .updateTable("tasks")
      .set({ due_at: now })
      .where("id", "=", id)
      .where("final", "=", sql.lit(0))
      .where((eb) => eb.or([eb("due_at", "is", null), eb("due_at", ">", now)]))
      .execute(),
  );
}

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
