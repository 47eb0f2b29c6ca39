import { sql } from "kysely";
import {
  type Batch,
  type BatchRow,
  type BatchRowState,
  type BatchState,
  batchRequestId,
  columnsOf,
  finalBatchStates,
  type LedgerEntry,
  membersOf,
} from "#core/index.ts";
import {
  type Connection,
  chunksOf,
  type Database,
  deleteInBatches,
  isUnleased,
  ledgerWriter,
  newLeaseToken,
  relaxedWrite,
  updateDue,
} from "#storage/tables.ts";
import { batchColumns, batchFromRow, jsonMembers, rowColumns } from "./batch-rows.ts";

/** A batch leased until `untilMs`. */
export interface LeasedBatch {
  readonly batch: Batch;
  readonly lease: string;
}

export type BatchStep = Partial<Omit<Batch, "id">>;

/** The end of a row. */
export interface EndedRow
  extends Pick<BatchRow, "position" | "customId" | "start" | "bytes" | "httpStatus" | "result"> {
  readonly state: Extract<BatchRowState, "succeeded" | "errored">;
  readonly costNanoUsd: number;
}

/** The end of a row of a vendor's batch. `entry` null: the vendor did not execute it. */
export interface SettledRow extends Omit<EndedRow, "state"> {
  readonly state: Exclude<BatchRowState, "pending" | "running">;
  readonly entry: LedgerEntry | null;
}

/** Rows in one statement. */
const rowsTogether = 100;
/** Rows that are deleted or ended in one statement, so that no statement blocks the others for long. */
const rowsAtOnce = 250;

export function batchWrites(database: Database) {
  const { kysely } = database;
  const writeLedger = ledgerWriter(database);
  const leased = (connection: Connection, { batch, lease }: LeasedBatch, columns: object) =>
    connection
      .updateTable("batches")
      .set(columns)
      .where("id", "=", batch.id)
      .where("lease", "=", lease)
      .executeTakeFirst()
      .then(({ numUpdatedRows }) => numUpdatedRows === 1n);
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
    /** A power cut may undo it: the batch begins with a later write. */
    async addRows(rows: readonly BatchRow[]): Promise<void> {
      await relaxedWrite(database, async (connection) => {
        for (const some of chunksOf(rows, rowsTogether)) {
          await connection
            .insertInto("batch_rows")
            .values(some.map((row) => columnsOf(row)))
            .execute();
        }
      });
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
    step(one: LeasedBatch, step: BatchStep, release: boolean): Promise<boolean> {
      const ended = step.state !== undefined && finalBatchStates.has(step.state) ? { due_at: null } : {};
      const free = release ? { lease: null, leased_until: null } : {};
      return leased(kysely, one, { ...columnsOf(step, jsonMembers), ...ended, ...free });
    },
    /** Begins to cancel a batch whose rows run. */
    async cancel(workspaceId: string, id: string, now: number): Promise<void> {
      await kysely
        .updateTable("batches")
        .set({ state: "canceling" satisfies BatchState, cancel_at: now, due_at: now })
        .where("id", "=", id)
        .where("workspace_id", "=", workspaceId)
        .where("state", "=", "in_progress")
        .execute();
    },
    /** The next pending rows, which this process (`owner`) now runs. A power cut may undo it; see `markNextRows`. */
    async takeRows(batchId: string, owner: string, limit: number): Promise<readonly BatchRow[]> {
      const first = await firstPending(kysely, batchId);
      if (first === null) return [];
      // A range of the primary key: rows that have ended are skipped.
      const rows = await relaxedWrite(database, (connection) =>
        connection
          .updateTable("batch_rows")
          .set({ state: "running", owner })
          .where("batch_id", "=", batchId)
          .where("position", ">=", first)
          .where("position", "<", first + limit)
          .where("state", "=", sql.lit("pending"))
          .returning(rowColumns)
          .execute(),
      );
      return rows.map((row) => membersOf(row) as BatchRow).sort((a, b) => a.position - b.position);
    },
    /**
     * Marks the next pending rows of every batch as running, for a dead process. After a power cut they may have been sent, which the
     * ledger then shows; the others become pending again.
     */
    async markNextRows(owner: string, count: number): Promise<void> {
      const batches = await kysely.selectFrom("batches").select("id").where("due_at", "is not", null).execute();
      for (const { id } of batches) {
        const first = await firstPending(kysely, id);
        if (first === null) continue;
        await kysely
          .updateTable("batch_rows")
          .set({ state: "running", owner })
          .where("batch_id", "=", id)
          .where("position", ">=", first)
          .where("position", "<", first + count)
          .where("state", "=", sql.lit("pending"))
          .execute();
      }
    },
    /** Returns rows that this process took and did not send; without `positions` all of the batch that it has. */
    async returnRows(batchId: string, owner: string, positions?: readonly number[]): Promise<void> {
      const taken = kysely
        .updateTable("batch_rows")
        .set({ state: "pending", owner: null })
        .where("batch_id", "=", batchId)
        .where("state", "=", sql.lit("running"))
        .where("owner", "=", owner);
      if (positions === undefined) await taken.execute();
      else for (const some of chunksOf(positions, rowsTogether)) await taken.where("position", "in", some).execute();
    },
    /** Stores the ends of rows and their sums together. Rows that this process does not run any more are skipped, so it can be repeated. */
    async endRows(batchId: string, owner: string, rows: readonly EndedRow[]): Promise<void> {
      const store = async (transaction: Connection): Promise<void> => {
        const applied = new Set<number>();
        for (const some of chunksOf(rows, rowsTogether)) {
          const values = some.map(({ costNanoUsd: _, ...row }) => columnsOf({ batchId, owner, ...row }));
          const written = await transaction
            .insertInto("batch_rows")
            .values(values)
            .onConflict((conflict) =>
              conflict
                .columns(["batch_id", "position"])
                .doUpdateSet((eb) => ({
                  state: eb.ref("excluded.state"),
                  http_status: eb.ref("excluded.http_status"),
                  result: eb.ref("excluded.result"),
                }))
                .where("batch_rows.state", "=", "running")
                .where("batch_rows.owner", "=", owner),
            )
            .returning("position")
            .execute();
          for (const { position } of written) applied.add(position);
        }
        await addSums(
          transaction,
          batchId,
          rows.filter(({ position }) => applied.has(position)),
        );
      };
      await relaxedWrite(database, (connection) => connection.transaction().execute(store));
    },
    /**
     * Stores the ends of rows of a vendor's batch with their ledger entries, and how many lines of its result they are. All in one
     * transaction, so that a crash neither loses nor repeats a row. Resolves to the entries of rows that had not ended; null: the lease
     * was lost.
     */
    async settleRows(
      { batch, lease }: LeasedBatch,
      rows: readonly SettledRow[],
      vendorLines: number,
    ): Promise<readonly LedgerEntry[] | null> {
      const store = async (transaction: Connection): Promise<readonly LedgerEntry[] | null> => {
        const held = await transaction
          .updateTable("batches")
          .set({ vendor_lines: vendorLines })
          .where("id", "=", batch.id)
          .where("lease", "=", lease)
          .executeTakeFirst();
        if (held.numUpdatedRows !== 1n) return null;
        const applied = new Set<number>();
        for (const some of chunksOf(rows, rowsTogether)) {
          const values = some.map(({ costNanoUsd: _, entry: __, ...row }) =>
            columnsOf({ batchId: batch.id, owner: null, ...row }),
          );
          const written = await transaction
            .insertInto("batch_rows")
            .values(values)
            .onConflict((conflict) =>
              conflict
                .columns(["batch_id", "position"])
                .doUpdateSet((eb) => ({
                  state: eb.ref("excluded.state"),
                  http_status: eb.ref("excluded.http_status"),
                  result: eb.ref("excluded.result"),
                }))
                .where("batch_rows.state", "=", "pending"),
            )
            .returning("position")
            .execute();
          for (const { position } of written) applied.add(position);
        }
        const ended = rows.filter(({ position }) => applied.has(position));
        const entries = ended.flatMap(({ entry }) => entry ?? []);
        await writeLedger(transaction, entries);
        await addSums(transaction, batch.id, ended);
        return entries;
      };
      return await relaxedWrite(database, (connection) => connection.transaction().execute(store));
    },
    /** Rows that a vendor's result names. */
    async rowsAt(batchId: string, positions: readonly number[]): Promise<readonly BatchRow[]> {
      const rows = await kysely
        .selectFrom("batch_rows")
        .select(rowColumns)
        .where("batch_id", "=", batchId)
        .where("position", "in", positions)
        .execute();
      return rows.map((row) => membersOf(row) as BatchRow);
    },
    /** Whether another batch has this id of the vendor's. */
    async hasUpstreamId(provider: string, upstreamId: string): Promise<boolean> {
      const row = await kysely
        .selectFrom("batches")
        .select("id")
        .where("upstream_id", "=", upstreamId)
        .where("provider", "=", provider)
        .executeTakeFirst();
      return row !== undefined;
    },
    /** Ends the rows that have not begun. Resolves to their number. */
    async endPending(batchId: string, state: Extract<BatchRowState, "canceled" | "expired">): Promise<number> {
      let count = 0;
      for (;;) {
        const ended = await kysely.transaction().execute(async (transaction) => {
          const first = await firstPending(transaction, batchId);
          if (first === null) return null;
          const { numUpdatedRows } = await transaction
            .updateTable("batch_rows")
            .set({ state })
            .where("batch_id", "=", batchId)
            .where("position", ">=", first)
            .where("position", "<", first + rowsAtOnce)
            .where("state", "=", sql.lit("pending"))
            .executeTakeFirst();
          const some = Number(numUpdatedRows);
          if (some > 0) {
            await transaction
              .updateTable("batches")
              .set((eb) => ({ [state]: eb(state, "+", some) }))
              .where("id", "=", batchId)
              .execute();
          }
          return some;
        });
        if (ended === null) return count;
        count += ended;
        await nextTurn();
      }
    },
    /** The processes that run rows or have leases. */
    async owners(): Promise<readonly string[]> {
      const leases = await kysely
        .selectFrom("batches")
        .select("lease")
        .distinct()
        .where("lease", "is not", null)
        .execute();
      const rows = await kysely
        .selectFrom("batch_rows")
        .select("owner")
        .distinct()
        .where("state", "=", sql.lit("running"))
        .where("owner", "is not", null)
        .execute();
      const leased = leases.map(({ lease }) => lease?.split(":", 1)[0] ?? "");
      return [...new Set([...leased, ...rows.flatMap(({ owner }) => owner ?? [])])];
    },
    /**
     * Ends the leases of a dead process, and decides about its rows by the ledger. A row with an attempt that may have been executed is errored. Any other
     * becomes pending again if the whole journal of the process is in the ledger (`isAdopted`), else it is errored too.
     */
    async resolveRows(owner: string, isAdopted: boolean): Promise<void> {
      await kysely
        .updateTable("batches")
        .set({ lease: null, leased_until: null })
        .where("lease", "like", `${owner}:%`)
        .execute();
      for (;;) {
        const rows = await kysely
          .selectFrom("batch_rows")
          .select(["batch_id", "position"])
          .where("state", "=", sql.lit("running"))
          .where("owner", "=", owner)
          .orderBy("batch_id")
          .orderBy("position")
          .limit(rowsTogether)
          .execute();
        if (rows.length === 0) return;
        await nextTurn();
        const byBatch = Map.groupBy(rows, ({ batch_id }) => batch_id);
        for (const [batchId, some] of byBatch) {
          await resolve(
            batchId,
            some.map(({ position }) => position),
            { owner, isAdopted },
          );
        }
      }
    },
    async makeDueNow(id: string, now: number): Promise<void> {
      await kysely.updateTable("batches").set({ due_at: now }).where("id", "=", id).where("due_at", ">", now).execute();
    },
    /** Deletes the rows of a batch, some at a time. */
    async deleteRows(batchId: string): Promise<void> {
      await deleteInBatches(database, (rows) =>
        kysely
          .deleteFrom("batch_rows")
          .where("batch_id", "=", batchId)
          .where("position", "in", (eb) =>
            eb
              .selectFrom("batch_rows")
              .select("position")
              .where("batch_id", "=", batchId)
              .orderBy("position")
              .limit(rows),
          ),
      );
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

  async function resolve(
    batchId: string,
    positions: readonly number[],
    { owner, isAdopted }: { readonly owner: string; readonly isAdopted: boolean },
  ): Promise<void> {
    const ids = new Map(positions.map((position) => [batchRequestId(batchId, position), position]));
    const entries = await kysely
      .selectFrom("ledger")
      .select(["request_id", "outcome", "http_status", "cost_nano_usd"])
      .where("request_id", "in", [...ids.keys()])
      .execute();
    const costs = new Map<number, number>();
    const begun = new Set<number>();
    for (const { request_id, outcome, http_status, cost_nano_usd } of entries) {
      const position = ids.get(request_id) ?? -1;
      costs.set(position, (costs.get(position) ?? 0) + Number(cost_nano_usd));
      const wasRefused = outcome === "rejected" || (outcome === "failed" && refusedStatuses.has(http_status));
      if (!wasRefused || Number(cost_nano_usd) > 0) begun.add(position);
    }
    const errored = positions.filter((position) => begun.has(position) || !isAdopted);
    const again = positions.filter((position) => !errored.includes(position));
    await kysely.transaction().execute(async (transaction) => {
      const set = (state: BatchRowState, some: readonly number[], more: object) =>
        transaction
          .updateTable("batch_rows")
          .set({ state, ...more })
          .where("batch_id", "=", batchId)
          .where("position", "in", some)
          .where("state", "=", "running")
          .where("owner", "=", owner)
          .returning("position")
          .execute();
      if (again.length > 0) await set("pending", again, { owner: null });
      if (errored.length === 0) return;
      // Its result is null: it is rendered with the others.
      const ended = await set("errored", errored, { http_status: 500 });
      const sums = ended.map(({ position }) => ({ state: "errored" as const, costNanoUsd: costs.get(position) ?? 0 }));
      await addSums(transaction, batchId, sums);
    });
  }
}

/** SQLite answers at once, so a loop of statements would keep the event loop busy. */
function nextTurn(): Promise<void> {
  return new Promise(setImmediate);
}

async function firstPending(connection: Connection, batchId: string): Promise<number | null> {
  const row = await connection
    .selectFrom("batch_rows")
    .select("position")
    .where("batch_id", "=", batchId)
    .where("state", "=", sql.lit("pending"))
    .orderBy("position")
    .limit(1)
    .executeTakeFirst();
  return row?.position ?? null;
}

/** A lease names its process, so that it can be ended with it. */
function leaseOf(owner: string): string {
  return `${owner}:${newLeaseToken()}`;
}

/** Answers of upstreams that did not execute the call. */
const refusedStatuses: ReadonlySet<number> = new Set([429, 503, 529]);

async function addSums(
  transaction: Connection,
  batchId: string,
  rows: readonly { readonly state: SettledRow["state"]; readonly costNanoUsd: number }[],
): Promise<void> {
  if (rows.length === 0) return;
  const count = (wanted: SettledRow["state"]) => rows.filter(({ state }) => state === wanted).length;
  const cost = rows.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
  await transaction
    .updateTable("batches")
    .set((eb) => ({
      succeeded: eb("succeeded", "+", count("succeeded")),
      errored: eb("errored", "+", count("errored")),
      canceled: eb("canceled", "+", count("canceled")),
      expired: eb("expired", "+", count("expired")),
      cost_nano_usd: eb("cost_nano_usd", "+", cost),
    }))
    .where("id", "=", batchId)
    .execute();
}
