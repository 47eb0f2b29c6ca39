import { sql } from "kysely";
import {
  type BatchRow,
  type BatchRowState,
  columnsOf,
  inputTokensOf,
  type LedgerEntry,
  membersOf,
  outputTokensOf,
  type Usage,
} from "#core/index.ts";
import {
  type Connection,
  chunksOf,
  type Database,
  deleteInBatches,
  ledgerWriter,
  relaxedWrite,
} from "#storage/tables.ts";
import { nextTurn } from "../turns.ts";
import { firstIn, rowColumns } from "./batch-rows.ts";
import type { LeasedBatch } from "./batch-writes.ts";

/** The end of a row. */
export interface EndedRow
  extends Pick<BatchRow, "position" | "customId" | "start" | "bytes" | "httpStatus" | "result"> {
  readonly state: Extract<BatchRowState, "succeeded" | "errored">;
  readonly costNanoUsd: number;
  /** null: nothing was used. */
  readonly usage: Usage | null;
}

/** The end of a row of a vendor's batch. `entry` null: the vendor did not execute it. */
export interface SettledRow extends Omit<EndedRow, "state"> {
  readonly state: Exclude<BatchRowState, "pending" | "running">;
  readonly entry: LedgerEntry | null;
}

/** Rows in one statement. */
export const rowsTogether = 100;
/** Rows that are ended in one statement, so that no statement blocks the others for long. */
const rowsAtOnce = 250;

/** Changes of the rows of batches. */
export function rowWrites(database: Database) {
  const { kysely } = database;
  const writeLedger = ledgerWriter(database);
  return {
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
    /** The next pending rows, which this process (`owner`) now runs. A power cut may undo it; see `markNextRows`. */
    async takeRows(batchId: string, owner: string, limit: number): Promise<readonly BatchRow[]> {
      const first = await firstIn(kysely, batchId, "pending");
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
    /** Returns rows that this process took and did not send; without `positions` all of the batch that it has. */
    async returnRows(batchId: string, owner: string, positions?: readonly number[]): Promise<void> {
      const ofProcess = kysely
        .updateTable("batch_rows")
        .set({ state: "pending", owner: null })
        .where("batch_id", "=", batchId)
        .where("state", "=", sql.lit("running"))
        .where("owner", "=", owner);
      if (positions === undefined) await ofProcess.execute();
      else
        for (const some of chunksOf(positions, rowsTogether)) await ofProcess.where("position", "in", some).execute();
    },
    /** Stores the ends of rows and their sums together. Rows that this process does not run any more are skipped, so it can be repeated. */
    async endRows(batchId: string, owner: string, rows: readonly EndedRow[], now: number): Promise<void> {
      await relaxedWrite(database, (connection) =>
        connection.transaction().execute((transaction) => storeEnds(transaction, batchId, rows, owner, now)),
      );
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
      now: number,
    ): Promise<readonly LedgerEntry[] | null> {
      const store = async (transaction: Connection): Promise<readonly LedgerEntry[] | null> => {
        const held = await transaction
          .updateTable("batches")
          .set({ vendor_lines: vendorLines })
          .where("id", "=", batch.id)
          .where("lease", "=", lease)
          .executeTakeFirst();
        if (held.numUpdatedRows !== 1n) return null;
        const ended = await storeEnds(transaction, batch.id, rows, null, now);
        const entries = ended.flatMap(({ entry }) => entry ?? []);
        await writeLedger(transaction, entries);
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
    /** Ends the rows that have not begun. Resolves to their number. */
    async endPending(
      batchId: string,
      state: Extract<BatchRowState, "canceled" | "expired">,
      now: number,
    ): Promise<number> {
      let count = 0;
      for (;;) {
        const ended = await kysely.transaction().execute(async (transaction) => {
          const first = await firstIn(transaction, batchId, "pending");
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
              .set((eb) => ({ [state]: eb(state, "+", some), progress_at: now }))
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
  };
}

/**
 * Stores the ends of rows, and their sums in the batch. `owner`: the process that runs them; null: a vendor does, and they are pending.
 * Rows that have ended, or that another process runs, are skipped. Resolves to the others.
 */
async function storeEnds<Row extends EndedRow | SettledRow>(
  transaction: Connection,
  batchId: string,
  rows: readonly Row[],
  owner: string | null,
  now: number,
): Promise<readonly Row[]> {
  const stored = new Set<number>();
  for (const some of chunksOf(rows, rowsTogether)) {
    const written = await transaction
      .insertInto("batch_rows")
      .values(
        some.map(({ position, customId, start, bytes, state, httpStatus, result }) =>
          columnsOf({ batchId, owner, position, customId, start, bytes, state, httpStatus, result }),
        ),
      )
      .onConflict((conflict) => {
        const update = conflict.columns(["batch_id", "position"]).doUpdateSet((eb) => ({
          state: eb.ref("excluded.state"),
          http_status: eb.ref("excluded.http_status"),
          result: eb.ref("excluded.result"),
        }));
        return owner === null
          ? update.where("batch_rows.state", "=", "pending")
          : update.where("batch_rows.state", "=", "running").where("batch_rows.owner", "=", owner);
      })
      .returning("position")
      .execute();
    for (const { position } of written) stored.add(position);
  }
  const ended = rows.filter(({ position }) => stored.has(position));
  await addSums(transaction, batchId, ended, now);
  return ended;
}

export async function addSums(
  transaction: Connection,
  batchId: string,
  rows: readonly Pick<SettledRow, "state" | "costNanoUsd" | "usage">[],
  now: number,
): Promise<void> {
  if (rows.length === 0) return;
  const count = (wanted: SettledRow["state"]) => rows.filter(({ state }) => state === wanted).length;
  const cost = rows.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
  const usages = rows.flatMap(({ state, usage }) => (state === "succeeded" && usage !== null ? [usage] : []));
  const tokens = (count: (usage: Usage) => number) => usages.reduce((sum, usage) => sum + count(usage), 0);
  await transaction
    .updateTable("batches")
    .set((eb) => ({
      succeeded: eb("succeeded", "+", count("succeeded")),
      errored: eb("errored", "+", count("errored")),
      canceled: eb("canceled", "+", count("canceled")),
      expired: eb("expired", "+", count("expired")),
      cost_nano_usd: eb("cost_nano_usd", "+", cost),
      input_tokens: eb("input_tokens", "+", tokens(inputTokensOf)),
      cached_tokens: eb(
        "cached_tokens",
        "+",
        tokens(({ cacheRead, cacheReadAudio }) => cacheRead + cacheReadAudio),
      ),
      output_tokens: eb("output_tokens", "+", tokens(outputTokensOf)),
      reasoning_tokens: eb(
        "reasoning_tokens",
        "+",
        tokens(({ reasoning, separateReasoning }) => reasoning + separateReasoning),
      ),
      progress_at: now,
    }))
    .where("id", "=", batchId)
    .execute();
}
