import { sql } from "kysely";
import { type Batch, type BatchState, columnsOf, finalBatchStates } from "#core/index.ts";
import { type Database, isUnleased, newLeaseToken, relaxedWrite, updateDue } from "#storage/tables.ts";
import { batchColumns, batchFromRow, jsonMembers } from "./batch-rows.ts";

/** A batch leased until `untilMs`. */
export interface LeasedBatch {
  readonly batch: Batch;
  readonly lease: string;
}

/** A flood of hints polls a batch this often at most. */
const hintPauseMs = 5_000;

export type BatchStep = Partial<Omit<Batch, "id">>;

export function batchWrites(database: Database) {
  const { kysely } = database;
  return {
    /** Stores a batch that is being created, leased until `untilMs`. */
    async create(batch: Batch, owner: string, untilMs: number): Promise<LeasedBatch> {
      const lease = leaseOf(owner);
      await kysely
        .insertInto("batches")
        .values({ ...columnsOf(batch, jsonMembers), lease, leased_until: untilMs })
        .execute();
      return { batch, lease };
    },
    /** Leases due batches, oldest first. A batch with an expired lease can be leased again. */
    async lease(owner: string, now: number, leaseMs: number, limit: number): Promise<readonly LeasedBatch[]> {
      const lease = leaseOf(owner);
      const rows = await relaxedWrite(database, (connection) =>
        updateDue(database, connection, "batches", { now, limit, only: isUnleased(now) })
          .set({ lease, leased_until: now + leaseMs })
          .returning(batchColumns)
          .execute(),
      );
      return rows.map((row) => ({ batch: batchFromRow(row), lease }));
    },
    async nextDue(now: number): Promise<number | null> {
      const row = await database.reading
        .selectFrom("batches")
        .select("due_at")
        .where("due_at", "is not", null)
        .where(isUnleased(now))
        .orderBy("due_at")
        .limit(1)
        .executeTakeFirst();
      return row?.due_at ?? null;
    },
    /** Keeps the lease, and resolves to the batch as it is now; null: the lease was lost. */
    async renew({ batch, lease }: LeasedBatch, untilMs: number): Promise<Batch | null> {
      const row = await relaxedWrite(database, (connection) =>
        connection
          .updateTable("batches")
          .set({ leased_until: untilMs })
          .where("id", "=", batch.id)
          .where("lease", "=", lease)
          .returning(batchColumns)
          .executeTakeFirst(),
      );
      return row === undefined ? null : batchFromRow(row);
    },
    /** Writes a step under the lease. `release` ends it. False: it was lost, and nothing was written. */
    async step({ batch, lease }: LeasedBatch, step: BatchStep, release: boolean): Promise<boolean> {
      const ended = step.state !== undefined && finalBatchStates.has(step.state) ? { due_at: null } : {};
      const free = release ? { lease: null, leased_until: null } : {};
      const { numUpdatedRows } = await kysely
        .updateTable("batches")
        .set({ ...columnsOf(step, jsonMembers), ...ended, ...free })
        .where("id", "=", batch.id)
        .where("lease", "=", lease)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    /** Requests the end of a batch in progress. */
    async cancel(workspaceId: string, id: string, now: number): Promise<void> {
      await kysely
        .updateTable("batches")
        .set({ state: "canceling" satisfies BatchState, cancel_at: now, due_at: now })
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .where("state", "=", "in_progress")
        .execute();
    },
    /** Whether another batch has this id of the vendor's. */
    async isOfAnother(id: string, provider: string, upstreamId: string): Promise<boolean> {
      const row = await kysely
        .selectFrom("batches")
        .select("id")
        .where("upstream_id", "=", upstreamId)
        .where("provider", "=", provider)
        .where("id", "!=", id)
        .executeTakeFirst();
      return row !== undefined;
    },
    /**
     * The vendor reported a change at `signedAt`: the batch becomes due now. False: the batch is unknown, or the last hint was less
     * than five seconds ago, or was received after this one was signed, as with a replay.
     */
    async hint(provider: string, upstreamId: string, signedAt: number, now: number): Promise<boolean> {
      const { numUpdatedRows } = await kysely
        .updateTable("batches")
        .set({ hint_at: now, due_at: sql<number>`case when due_at > ${now} then ${now} else due_at end` })
        .where("upstream_id", "=", upstreamId)
        .where("provider", "=", provider)
        .where("due_at", "is not", null)
        .where((eb) => eb.or([eb("hint_at", "is", null), eb("hint_at", "<=", Math.min(now - hintPauseMs, signedAt))]))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Ends the lease until `dueAt`, or at once if there was a hint during the lease. */
    async release({ batch, lease }: LeasedBatch, dueAt: number): Promise<void> {
      const hasHint = sql`coalesce(hint_at, 0) > ${batch.hintAt ?? 0}`;
      await kysely
        .updateTable("batches")
        .set({
          due_at: sql<number>`case when ${hasHint} and hint_at < ${dueAt} then hint_at else ${dueAt} end`,
          lease: null,
          leased_until: null,
        })
        .where("id", "=", batch.id)
        .where("lease", "=", lease)
        .execute();
    },
    /** Deletes a batch that has ended. False: it has not, or there is none. */
    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await kysely
        .deleteFrom("batches")
        .where("id", "=", id)
        .where("due_at", "is", null)
        .executeTakeFirst();
      return numDeletedRows === 1n;
    },
    /** Deletes a leased batch that never began. */
    async discard({ batch, lease }: LeasedBatch): Promise<void> {
      await kysely.deleteFrom("batches").where("id", "=", batch.id).where("lease", "=", lease).execute();
    },
    /** Batches that are due to be deleted. */
    async outdated(now: number, limit: number): Promise<readonly Batch[]> {
      const rows = await kysely
        .selectFrom("batches")
        .select(batchColumns)
        .where("delete_at", "<=", now)
        .where("due_at", "is", null)
        .orderBy("delete_at")
        .limit(limit)
        .execute();
      return rows.map(batchFromRow);
    },
  };
}

/** A lease names its process, so that it can be ended with it. */
function leaseOf(owner: string): string {
  return `${owner}:${newLeaseToken()}`;
}
