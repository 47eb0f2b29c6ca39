import { sql } from "kysely";
import { type BatchRowState, batchRequestId } from "#core/index.ts";
import type { Database } from "#storage/tables.ts";
import { nextTurn } from "../turns.ts";
import { firstIn } from "./batch-rows.ts";
import { addSums, rowsTogether } from "./row-writes.ts";

/** Answers of upstreams that did not execute the call. */
const refusedStatuses: ReadonlySet<number> = new Set([429, 503, 529]);

/** Leases and rows of processes that died. */
export function deadProcesses({ kysely }: Database) {
  return {
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
     * Marks the next pending rows of every batch as running, for a dead process. After a power cut they may have been sent, which the
     * ledger then shows; the others become pending again.
     */
    async markNextRows(owner: string, count: number): Promise<void> {
      const batches = await kysely.selectFrom("batches").select("id").where("due_at", "is not", null).execute();
      for (const { id } of batches) {
        const first = await firstIn(kysely, id, "pending");
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
    /**
     * Ends the leases of a dead process, and decides about its rows by the ledger. A row with an attempt that may have been executed is errored. Any other
     * becomes pending again if the whole journal of the process is in the ledger (`isAdopted`), else it is errored too.
     */
    async resolveRows(owner: string, isAdopted: boolean, now: number): Promise<void> {
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
            { owner, isAdopted, now },
          );
        }
      }
    },
  };

  async function resolve(
    batchId: string,
    positions: readonly number[],
    { owner, isAdopted, now }: { readonly owner: string; readonly isAdopted: boolean; readonly now: number },
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
      const sums = ended.map(({ position }) => ({
        ...{ state: "errored" as const, costNanoUsd: costs.get(position) ?? 0, usage: null },
      }));
      await addSums(transaction, batchId, sums, now);
    });
  }
}
