import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Task } from "#core/index.ts";
import type { Vault } from "#ports/index.ts";
import {
  columnsOf,
  type Database,
  leaseIsFree,
  membersOf,
  newLeaseToken,
  relaxedWrite,
  underDueLease,
  updateDue,
  writtenOnce,
} from "#storage/tables.ts";
import { requestOfTask, taskColumns, wholeTask } from "./task-rows.ts";

/** A task that one pass may work on until `untilMs`. Writes check the token: a write with an old one is refused. */
export interface LeasedTask {
  readonly task: Task;
  readonly lease: string;
  readonly untilMs: number;
}

/** What a poll of an account asks for. Times in milliseconds. */
export interface PollAsk {
  /** A name for the account, the same in every process. */
  readonly account: string;
  readonly now: number;
  /** The least time between two polls of the account. */
  readonly stepMs: number;
  /** A poll within so long is waited for by whoever asks. */
  readonly nearMs: number;
  /** `new`: it comes behind all others. `placed`: the place that it was given has come. `spare`: it polls now or not at all. */
  readonly kind: "new" | "placed" | "spare";
}

/** A message to the caller that is to be delivered, with its history. */
export interface Delivery {
  readonly id: string;
  readonly taskId: string;
  readonly workspaceId: string;
  readonly url: string;
  /** JSON text. */
  readonly body: string;
  readonly tries: number;
  readonly dueAt: number | null;
  readonly createdAt: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly deliveredAt: number | null;
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

/** What of the store comes due and is taken by one pass at a time: tasks, polls of accounts, messages to callers. */
export function taskLeases(database: Database, vault: Vault) {
  const { kysely } = database;
  const dueQuery = writtenOnce((place: (name: "now") => never) =>
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
  return {
    /** Leases the tasks that are due, the oldest due time first. A task whose lease has ended can be leased again. */
    async lease(now: number, leaseMs: number, limit: number): Promise<readonly LeasedTask[]> {
      const lease = newLeaseToken();
      const untilMs = now + leaseMs;
      const rows = await relaxedWrite(database, (connection) =>
        updateDue(database, connection, "tasks", { now, limit, only: leaseIsFree(now) })
          .set({ lease, leased_until: untilMs })
          .where("final", "=", sql.lit(0))
          .returning(taskColumns)
          .returning(requestOfTask)
          .execute(),
      );
      const tasks = rows.map((row) => ({ task: wholeTask(row, vault), lease, untilMs }));
      return tasks.sort((a, b) => (a.task.dueAt ?? 0) - (b.task.dueAt ?? 0) || (a.task.id < b.task.id ? -1 : 1));
    },
    /** When the first task that nobody holds, or message to a caller, is due; writes nothing. null: none is. */
    async nextDue(now: number): Promise<number | null> {
      const { rows } = await database.reading.executeQuery(dueQuery({ now }));
      const { task = null, message = null } = rows[0] ?? {};
      if (task === null || message === null) return task ?? message;
      return Math.min(task, message);
    },
    /** Leases this task, even if it is not due. null: another pass has it, or it is final. */
    async leaseOne(id: string, now: number, leaseMs: number): Promise<LeasedTask | null> {
      const lease = newLeaseToken();
      const untilMs = now + leaseMs;
      const row = await relaxedWrite(database, (connection) =>
        connection
          .updateTable("tasks")
          .set({ lease, leased_until: untilMs })
          .where("id", "=", id)
          .where("final", "=", sql.lit(0))
          .where(leaseIsFree(now))
          .returning(taskColumns)
          .returning(requestOfTask)
          .executeTakeFirst(),
      );
      return row === undefined ? null : { task: wholeTask(row, vault), lease, untilMs };
    },
    /** Makes the task due now, after a hint from the vendor or a question of a caller. What is due sooner or final stays so. */
    async hurry(id: string, now: number): Promise<void> {
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
     * Unix milliseconds at which this poll may be made: within `nearMs` the poll is to be made then, and nobody else polls within
     * a step of it. Later than that it is a place in the account's row, to come back to as `placed`. Null: no spare one is free.
     *
     * One statement, so that any number of processes keep one pace. The row of an account has two ends: `row_ends_at`, behind
     * the last place that was given, for fairness; and `free_at`, a step behind the last poll that was let through, which alone
     * decides when the next one is. So whoever comes late to a place, or never, costs a place and no pace.
     */
    async takePoll(ask: PollAsk): Promise<number | null> {
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
    },
    /** Forgets accounts that nobody has polled since. */
    async forgetPolls(before: number): Promise<void> {
      await relaxedWrite(database, (connection) =>
        connection
          .deleteFrom("account_polls")
          .where("row_ends_at", "<", before)
          .where("free_at", "<", before)
          .execute(),
      );
    },
    /** Messages that are due, leased: whoever takes one has until its `dueAt` to tell how it went. */
    async dueDeliveries(now: number, leaseMs: number, limit: number): Promise<readonly Delivery[]> {
      const rows = await relaxedWrite(database, (connection) =>
        updateDue(database, connection, "webhook_deliveries", { now, limit })
          .set({ due_at: now + leaseMs })
          .returning(deliveryColumns)
          .execute(),
      );
      return rows.map((row) => membersOf(row));
    },
    /**
     * Stores how a try went. `dueAt` null: delivered, or given up. A failure is written only while the lease is valid:
     * `leased.dueAt` is what `dueDeliveries` returned. A delivery is always written, once: that it arrived is true whoever says
     * it, and who stood still knows only of an older failure.
     */
    async delivered(
      leased: Pick<Delivery, "id" | "dueAt">,
      result: Pick<Delivery, "tries" | "dueAt" | "lastStatus" | "lastError" | "deliveredAt">,
    ): Promise<void> {
      let update = kysely
        .updateTable("webhook_deliveries")
        .set(columnsOf(result))
        .where("id", "=", leased.id)
        .where("delivered_at", "is", null);
      if (result.deliveredAt === null) update = update.where(underDueLease(leased.dueAt));
      await update.execute();
      if (result.dueAt !== null) return;
      // A message that is over goes with its task, where that was deleted before.
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
    async deliveries(taskId: string): Promise<readonly Delivery[]> {
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
