import {
  type Batch,
  type BatchApi,
  Failure,
  finalBatchStates,
  type HeaderReader,
  type NanoUsd,
  type Principal,
} from "#core/index.ts";
import { acceptBatch, type NewBatch } from "./accept/accept.ts";
import { batchBounds } from "./batch-bounds.ts";
import { handleHint } from "./hints.ts";
import { BatchHolds } from "./holds.ts";
import type { BatchesOptions } from "./options.ts";
import { type FailedRow, failedRows } from "./result/failed-rows.ts";
import { Pauses } from "./run/pauses.ts";
import { RowSlots } from "./run/row-slots.ts";
import { BatchRunner } from "./run/runner.ts";
import type { BatchFilter, BatchPage } from "./store/batch-rows.ts";

/** Batches of all workspaces. A batch of another workspace looks missing. */
export class Batches {
  readonly #options: BatchesOptions;
  readonly #holds: BatchHolds;
  readonly #pauses: Pauses;
  readonly #slots = new RowSlots();
  readonly #counts = { rows: 0, failed: 0 };
  readonly #runner: BatchRunner;
  readonly #accepting = new Map<string, number>();

  constructor(options: BatchesOptions) {
    this.#options = options;
    this.#holds = new BatchHolds(options);
    this.#pauses = new Pauses(options.clock);
    this.#runner = new BatchRunner({
      ...options,
      holds: this.#holds,
      slots: this.#slots,
      pauses: this.#pauses,
      counts: this.#counts,
    });
  }

  /** Batches of all processes that have not ended, at the last count, and their open rows. `stalledMs`: the longest without progress. */
  get open(): {
    readonly batches: number;
    readonly rows: number;
    readonly oldestMs: number;
    readonly stalledMs: number;
  } {
    const { batches, rows, ended, oldestAt, progressAt } = this.#runner.openSums;
    const now = this.#options.clock.now();
    const since = (at: number | null) => (at === null ? 0 : Math.max(0, now - at));
    return { batches, rows: rows - ended, oldestMs: since(oldestAt), stalledMs: since(progressAt) };
  }

  /** Rows that ended in this process. */
  get ended(): { readonly rows: number; readonly failed: number } {
    return this.#counts;
  }

  /** Whether this process advances a batch. */
  get isBusy(): boolean {
    return this.#runner.isBusy;
  }

  /** Rows that run in this process. */
  get rowsInFlight(): number {
    return this.#slots.used;
  }

  /** Holds the money of open rows again. Call it before the port opens. */
  async restoreHolds(): Promise<void> {
    for await (const batch of this.#options.store.open()) await this.#holds.restore(batch);
  }

  start(): void {
    this.#runner.start();
  }

  stop(): Promise<void> {
    return this.#runner.stop();
  }

  /** A limit refused a call that is not a row of a batch. */
  limitRefused(workspaceId: string): void {
    this.#pauses.refused(workspaceId);
  }

  /** Throws Failure; then nothing is stored or held. */
  async create(request: NewBatch): Promise<Batch> {
    const { id } = request.principal.workspace;
    await this.#checkRoom(request.principal);
    const of = this.#accepting.get(id) ?? 0;
    const all = [...this.#accepting.values()].reduce((sum, count) => sum + count, 0);
    if (of >= batchBounds.acceptingOfWorkspaceMax || all >= batchBounds.acceptingMax) {
      throw new Failure("rate_limit_exceeded", "Too many batches are being created; try again later.", {
        retryAfterMs: 5_000,
      });
    }
    this.#accepting.set(id, of + 1);
    try {
      const batch = await acceptBatch({ ...this.#options, holds: this.#holds }, request);
      this.#runner.wake();
      return batch;
    } finally {
      const left = (this.#accepting.get(id) ?? 1) - 1;
      if (left === 0) this.#accepting.delete(id);
      else this.#accepting.set(id, left);
    }
  }

  async #checkRoom({ workspace }: Principal): Promise<void> {
    if ((await this.#options.store.openCount(workspace.id)) < batchBounds.openMax) return;
    const message = `The workspace has ${batchBounds.openMax} batches that have not ended. Wait until one ends, or cancel one.`;
    throw new Failure("rate_limit_exceeded", message, { retryAfterMs: 60_000 });
  }

  /** For admins: of any API, by the id of our rows. null: the workspace has no such batch. */
  find(workspaceId: string, id: string): Promise<Batch | null> {
    return this.#options.store.find(workspaceId, id);
  }

  /** The money that is held for a batch, and its first failed rows. */
  async facts(
    batch: Batch,
    failedMax: number,
  ): Promise<{ readonly reservedNanoUsd: NanoUsd; readonly failed: readonly FailedRow[] }> {
    const open = finalBatchStates.has(batch.state) ? [] : await this.#options.store.openPieces(batch.id);
    return {
      reservedNanoUsd: open.reduce((sum, { piece }) => sum + (batch.holds[piece] ?? 0), 0),
      failed: await failedRows(this.#options, batch, failedMax),
    };
  }

  /** `id`: of our rows, or null. Throws Failure not_found. */
  async get(workspaceId: string, api: BatchApi, id: string | null): Promise<Batch> {
    const batch = id === null ? null : await this.#options.store.find(workspaceId, id);
    if (batch === null || batch.api !== api) throw noSuchBatch();
    return batch;
  }

  /** A webhook of a vendor about one of its batches. False: it is not accepted. */
  async handleHint(providerId: string, headers: HeaderReader, readBody: () => Promise<Uint8Array>): Promise<boolean> {
    const isDue = await handleHint(this.#options, providerId, headers, readBody);
    if (isDue === true) this.#runner.wake();
    return isDue !== null;
  }

  page(
    filter: BatchFilter,
    place: { readonly after?: Batch | string | null; readonly before?: Batch | null },
    limit: number,
  ): Promise<BatchPage> {
    const { after = null, before = null } = place;
    const at = after === null || typeof after === "string" ? after : { at: after.createdAt, id: after.id };
    const until = before === null ? null : { at: before.createdAt, id: before.id };
    return this.#options.store.page(filter, { after: at, before: until }, limit);
  }

  /** No further row begins. Resolves to the batch as it is then. Throws Failure not_found. */
  async cancel(workspaceId: string, api: BatchApi, id: string | null): Promise<Batch> {
    const batch = await this.get(workspaceId, api, id);
    if (finalBatchStates.has(batch.state)) return batch;
    await this.#options.store.cancel(workspaceId, batch.id, this.#options.clock.now());
    this.#runner.wake(batch.id);
    return await this.get(workspaceId, api, id);
  }

  /** The lines of its result. Throws Failure not_found if it has none. */
  async result(batch: Batch): Promise<ReadableStream<Uint8Array>> {
    const { blobs } = this.#options;
    const stream = batch.outputHash === null ? null : await blobs.read(batch.outputHash, 0, batch.outputBytes);
    if (stream === null) throw new Failure("not_found", "The batch has no results.", { param: "id" });
    return stream;
  }

  /** Like `result`, also of OpenAI's batches, which have two files. Only they have `errors`. */
  async resultPart(batch: Batch, part: "output" | "errors"): Promise<ReadableStream<Uint8Array>> {
    const { files } = this.#options;
    if (batch.api !== "openai" && part === "output") return await this.result(batch);
    const fileId = part === "output" ? batch.outputFileId : batch.errorFileId;
    return await files.open(await files.get(batch.workspaceId, fileId));
  }

  /** Deletes an ended batch with its result. Throws Failure not_found, or invalid_request if it has not ended. */
  async remove(workspaceId: string, api: BatchApi, id: string | null): Promise<Batch> {
    const { store, blobs } = this.#options;
    const batch = await this.get(workspaceId, api, id);
    if (!(await store.remove(batch.id))) {
      throw new Failure("invalid_request", "The batch has not ended. Cancel it first.", { param: "id" });
    }
    if (batch.outputHash !== null) await blobs.remove(batch.outputHash);
    return batch;
  }
}

function noSuchBatch(): Failure {
  return new Failure("not_found", "There is no batch with this id.", { param: "id" });
}
