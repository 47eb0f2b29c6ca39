import { type RawBuilder, type SqlBool, sql } from "kysely";
import { columnsOf, membersOf, type Task, type WebhookDelivery } from "#core/index.ts";
import type { Vault } from "#ports/index.ts";
import {
  type Database,
  isLeasedUntil,
  isUnleased,
  newLeaseToken,
  relaxedWrite,
  updateDue,
  writtenOnce,
} from "#storage/tables.ts";
import { requestColumn, taskColumns, taskFromRow } from "./task-rows.ts";

/** A task leased until `untilMs`. Writes with an outdated token are refused. */
export interface LeasedTask {
  readonly task: Task;
  readonly lease: string;
  readonly untilMs: number;
}

/** A request for a slot to poll an account. Times in milliseconds. */
export interface PollRequest {
  /** The upstream account, by a key that is the same in every process. */
  readonly account: string;
  readonly now: number;
  /** The shortest time between two polls of the account. */
  readonly stepMs: number;
  /** If the slot is this close, the requester waits for it. */
  readonly nearMs: number;
  /** `new`: append to the queue. `placed`: the reserved slot has come. `spare`: now or not at all. */
  readonly kind: "new" | "placed" | "spare";
}

const deliveryColumns = [
  "id",
  "task_id",
  "workspace_id",
  "url",
  "body",
  "tries",
  "due_at",
  "created_at",
  "last_status",
  "last_error",
  "delivered_at",
] as const;

/** Work that becomes due and is leased: tasks, polls of accounts, webhooks. */
export function taskLeases(database: Database, vault: Vault) {
  const { kysely } = database;
  const dueQuery = writtenOnce((place: (name: "now") => never) =>
    database.reading.selectNoFrom((eb) => [
      eb
        .selectFrom("tasks")
        .select("due_at")
        .where("due_at", "is not", null)
        .where("final", "=", sql.lit(0))
        .where(isUnleased(place("now")))
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
  return {
    /** Leases due tasks, oldest first. A task with an expired lease can be leased again. */
    async lease(now: number, leaseMs: number, limit: number): Promise<readonly LeasedTask[]> {
      const lease = newLeaseToken();
      const untilMs = now + leaseMs;
      const rows = await relaxedWrite(database, (connection) =>
        updateDue(database, connection, "tasks", { now, limit, only: isUnleased(now) })
          .set({ lease, leased_until: untilMs })
          .where("final", "=", sql.lit(0))
          .returning(taskColumns)
          .returning(requestColumn)
          .execute(),
      );
      const tasks = rows.map((row) => ({ task: taskFromRow(row, vault), lease, untilMs }));
      return tasks.sort((a, b) => (a.task.dueAt ?? 0) - (b.task.dueAt ?? 0) || (a.task.id < b.task.id ? -1 : 1));
    },
    /** The due time of the first unleased task or webhook; null: none. */
    async nextDue(now: number): Promise<number | null> {
      const { rows } = await database.reading.executeQuery(dueQuery({ now }));
      const { task = null, message = null } = rows[0] ?? {};
      if (task === null || message === null) return task ?? message;
      return Math.min(task, message);
    },
    /** Leases a task even if it is not due. null: another pass has it, or it is final. */
    async leaseOne(id: string, now: number, leaseMs: number): Promise<LeasedTask | null> {
      const lease = newLeaseToken();
      const untilMs = now + leaseMs;
      const row = await relaxedWrite(database, (connection) =>
        connection
          .updateTable("tasks")
          .set({ lease, leased_until: untilMs })
          .where("id", "=", id)
          .where("final", "=", sql.lit(0))
          .where(isUnleased(now))
          .returning(taskColumns)
          .returning(requestColumn)
          .executeTakeFirst(),
      );
      return row === undefined ? null : { task: taskFromRow(row, vault), lease, untilMs };
    },
    /** Call it after a callback of the vendor or a request of the caller. Never delays a task. */
    async makeDueNow(id: string, now: number): Promise<void> {
      await relaxedWrite(database, (connection) =>
        connection
          .updateTable("tasks")
          .set({ due_at: now })
          .where("id", "=", id)
          .where("final", "=", sql.lit(0))
          .where((eb) => eb.or([eb("due_at", "is", null), eb("due_at", ">", now)]))
          .execute(),
      );
    },
    /**
     * Reserves a slot. Returns its time in Unix milliseconds: within `nearMs`, poll then; later, come back at that time as
     * `placed`. Null: no spare slot is free.
     *
     * One statement, so that any number of processes share one pace. `row_ends_at` is behind the last reserved slot and
     * keeps the order fair. `free_at` is one step behind the last poll that was allowed and alone limits the pace, so a
     * late or missing poll wastes a slot but never exceeds the pace.
     */
    async reservePoll(ask: PollRequest): Promise<number | null> {
      const { account, kind } = ask;
      const step = Math.ceil(ask.stepMs);
      const { now, near, at, rowEndsAt, freeAt } = pollExpressions(database, ask, step);
      const row = await relaxedWrite(database, (connection) =>
        connection
          .insertInto("account_polls")
          .values({ account, row_ends_at: ask.now + step, free_at: ask.now + step, given_at: ask.now })
          .onConflict((conflict) => {
            const update = conflict.column("account").doUpdateSet({
              given_at: at,
              row_ends_at: rowEndsAt,
              free_at: sql<number>`case when ${at} <= ${near} then ${at} + ${asBigint(step)} else ${freeAt} end`,
            });
            return kind === "spare" ? update.where(sql<SqlBool>`${at} <= ${now}`) : update;
          })
          .returning("given_at")
          .executeTakeFirst(),
      );
      return row?.given_at ?? null;
    },
    async deletePolls(before: number): Promise<void> {
      await relaxedWrite(database, (connection) =>
        connection
          .deleteFrom("account_polls")
          .where("row_ends_at", "<", before)
          .where("free_at", "<", before)
          .execute(),
      );
    },
    /** Leases due webhooks. Record the result before the new `dueAt`. */
    async dueDeliveries(now: number, leaseMs: number, limit: number): Promise<readonly WebhookDelivery[]> {
      const rows = await relaxedWrite(database, (connection) =>
        updateDue(database, connection, "webhook_deliveries", { now, limit })
          .set({ due_at: now + leaseMs })
          .returning(deliveryColumns)
          .execute(),
      );
      return rows.map((row) => membersOf(row));
    },
    /**
     * Stores the result of an attempt. `dueAt` null: delivered, or given up. A failure is stored only under a valid lease
     * (`leased.dueAt` as `dueDeliveries` returned it); a success always, once, since a suspended process may know only of
     * an older failure.
     */
    async recordDelivery(
      leased: Pick<WebhookDelivery, "id" | "dueAt">,
      result: Pick<WebhookDelivery, "tries" | "dueAt" | "lastStatus" | "lastError" | "deliveredAt">,
    ): Promise<void> {
      let update = kysely
        .updateTable("webhook_deliveries")
        .set(columnsOf(result))
        .where("id", "=", leased.id)
        .where("delivered_at", "is", null);
      if (result.deliveredAt === null) update = update.where(isLeasedUntil(leased.dueAt));
      await update.execute();
      if (result.dueAt !== null) return;
      // A finished webhook of a deleted task is deleted.
      await kysely
        .deleteFrom("webhook_deliveries")
        .where("id", "=", leased.id)
        .where("due_at", "is", null)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom("tasks")
              .select("tasks.id")
              .whereRef("tasks.id", "=", "webhook_deliveries.task_id")
              .where("tasks.deleted_at", "is not", null),
          ),
        )
        .execute();
    },
    /** Webhooks that were created since a time and given up, by workspace. `taskId`: the latest of their tasks. */
    async failedDeliveries(
      workspaceId: string | null,
      since: number,
    ): Promise<readonly { readonly workspaceId: string; readonly taskId: string; readonly count: number }[]> {
      let query = kysely
        .selectFrom("webhook_deliveries")
        .select((eb) => ["workspace_id", eb.fn.max("task_id").as("task_id"), eb.fn.countAll().as("count")])
        .where("due_at", "is", null)
        .where("delivered_at", "is", null)
        .where("created_at", ">=", since)
        .groupBy("workspace_id");
      if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
      const rows = await query.execute();
      return rows.map((row) => ({ workspaceId: row.workspace_id, taskId: row.task_id, count: Number(row.count) }));
    },
    async deliveries(taskId: string): Promise<readonly WebhookDelivery[]> {
      const rows = await kysely
        .selectFrom("webhook_deliveries")
        .select(deliveryColumns)
        .where("task_id", "=", taskId)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map((row) => membersOf(row));
    },
  };
}

function pollExpressions(
  { flavour }: Database,
  ask: PollRequest,
  step: number,
): Readonly<Record<"now" | "near" | "at" | "rowEndsAt" | "freeAt", RawBuilder<number>>> {
  const greatest = sql.raw(flavour.name === "postgres" ? "greatest" : "max");
  const now = asBigint(ask.now);
  const near = asBigint(ask.now + ask.nearMs);
  const rowEnd = sql<number>`account_polls.row_ends_at`;
  const freeAt = sql<number>`account_polls.free_at`;
  const behind = sql<number>`${greatest}(${now}, ${rowEnd}, ${freeAt})`;
  const next = sql<number>`${behind} + ${asBigint(step)}`;
  if (ask.kind !== "placed") return { now, near, at: behind, rowEndsAt: next, freeAt };
  // The slot has come. If many were late and it is not near any more, reserve another.
  const isNear = sql<SqlBool>`${freeAt} <= ${near}`;
  return {
    now,
    near,
    at: sql<number>`case when ${isNear} then ${greatest}(${now}, ${freeAt}) else ${behind} end`,
    rowEndsAt: sql<number>`case when ${isNear} then ${rowEnd} else ${next} end`,
    freeAt,
  };
}

function asBigint(value: number): RawBuilder<number> {
  return sql<number>`cast(${value} as bigint)`;
}
