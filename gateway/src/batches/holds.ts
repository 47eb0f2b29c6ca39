import { type Batch, batchHeldCall, batchHoldId, batchHoldOf, type NanoUsd, type Principal } from "#core/index.ts";
import type { Permit } from "#limits/index.ts";
import type { BatchesOptions } from "./options.ts";
import { withHeldBudgets } from "./row-call.ts";

/** Batches to check in one sweep, and holds of a shared counter. */
const sweptMax = 50;
const sweptSharedMax = 20;
/** A hold may be older than its stored batch. */
const unstoredMs = 900_000;

const noCost = { attemptId: "", at: 0, workspaceId: "", groupId: "", keyId: "", costNanoUsd: 0 };

/** A cost that counts for the same budgets and periods as the rows of a vendor's batch. */
function costOf({ provider, submittedAt, createdAt, ...batch }: Batch) {
  const { workspaceId, groupId, keyId, personId, model, tags, costNanoUsd } = batch;
  const owner = { workspaceId, groupId, keyId, ...(personId === undefined ? {} : { personId }) };
  const of = { model, provider: provider ?? "", tags };
  return { attemptId: "", at: submittedAt ?? createdAt, ...owner, ...of, costNanoUsd };
}

/**
 * The money of open rows, by pieces of a batch: a piece is held until its last row has ended. So the money of a batch is given back
 * while it runs, and at most two pieces are counted twice, as held and as spent.
 */
export class BatchHolds {
  readonly #options: Pick<BatchesOptions, "admission" | "store" | "principalOf" | "clock">;
  /** By batch and piece, of a counter in this process. A shared counter keeps holds itself. */
  readonly #permits = new Map<string, Map<number, Permit>>();

  constructor(options: Pick<BatchesOptions, "admission" | "store" | "principalOf" | "clock">) {
    this.#options = options;
  }

  /** Rejects with budget_exceeded or budget_held, unless it `isGranted`: it was granted before a restart. */
  async hold(
    principal: Principal,
    batch: Pick<Batch, "id" | "provider" | "model" | "tags">,
    piece: number,
    nanoUsd: NanoUsd,
    isGranted = false,
  ): Promise<void> {
    const { admission } = this.#options;
    const holdId = batchHoldId(batch.id, piece);
    const permit = await admission.hold(principal, nanoUsd, isGranted, holdId, batchHeldCall(batch));
    if (admission.holdsLast) return;
    const permits = this.#permits.get(batch.id) ?? new Map<number, Permit>();
    this.#permits.set(batch.id, permits);
    permits.set(piece, permit);
  }

  /** Holds the money of open rows again, after a restart. */
  async restore(batch: Batch): Promise<void> {
    const found = await this.#options.principalOf(batch);
    if (found === null) return;
    const principal = withHeldBudgets(found, batch);
    for (const { piece } of await this.#options.store.openPieces(batch.id)) {
      if (this.#permits.get(batch.id)?.has(piece) === true) continue;
      await this.hold(principal, batch, piece, batch.holds[piece] ?? 0, true);
    }
  }

  end(batchId: string, piece: number): void {
    const { admission } = this.#options;
    if (admission.holdsLast) {
      // The counter retries; if this process stops, another one ends the hold in its sweep.
      admission.endHold(batchHoldId(batchId, piece), noCost).catch(() => undefined);
      return;
    }
    const permits = this.#permits.get(batchId);
    permits?.get(piece)?.release();
    permits?.delete(piece);
    if (permits?.size === 0) this.#permits.delete(batchId);
  }

  endAll(batch: Pick<Batch, "id" | "holds">): void {
    for (const piece of batch.holds.keys()) this.end(batch.id, piece);
  }

  /**
   * Budgets read the costs of a vendor's batch from the ledger: a process that stored them may have died before it counted them. Entries
   * of other batches are in a journal, and counted when it is adopted.
   */
  readCosts(batch: Batch): void {
    if (batch.provider === null) return;
    // The counter retries.
    this.#options.admission.storedElsewhere([costOf(batch)]).catch(() => undefined);
  }

  /** Ends holds of rows that another process ended, or that were never stored. */
  async sweep(): Promise<void> {
    const { store, admission } = this.#options;
    if (!admission.holdsLast) {
      for (const [batchId, permits] of [...this.#permits].slice(0, sweptMax)) {
        const batch = await store.findById(batchId);
        if (batch?.state === "validating") continue;
        const open = new Set((await store.openPieces(batchId)).map(({ piece }) => piece));
        const closed = [...permits.keys()].filter((piece) => !open.has(piece));
        if (batch !== null && closed.length > 0) this.readCosts(batch);
        for (const piece of closed) this.end(batchId, piece);
        // The others come first in the next sweep.
        const left = this.#permits.get(batchId);
        if (left === undefined) continue;
        this.#permits.delete(batchId);
        this.#permits.set(batchId, left);
      }
      return;
    }
    for (const { id, ageMs } of await admission.someHolds(sweptSharedMax)) {
      const found = batchHoldOf(id);
      if (found === null) continue;
      const batch = await store.findById(found.batchId);
      if (batch === null ? ageMs < unstoredMs : batch.state === "validating") continue;
      const open = await store.openPieces(found.batchId);
      if (open.some(({ piece }) => piece === found.piece)) continue;
      if (batch !== null) this.readCosts(batch);
      this.end(found.batchId, found.piece);
    }
  }
}
