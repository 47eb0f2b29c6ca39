import {
  type Batch,
  type BatchApi,
  type BatchError,
  type BatchRow,
  batchPieceRows,
  batchRequestId,
  bounds,
  type CallSignal,
  Failure,
  type Principal,
  peopleFields,
  pulledStream,
} from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";
import type { EndpointProtocol } from "#protocols/index.ts";
import type { BatchPlace } from "#relay/index.ts";
import { batchBounds } from "../batch-bounds.ts";
import type { BatchHolds } from "../holds.ts";
import type { BatchesOptions } from "../options.ts";
import { budgetNames } from "../row-call.ts";
import type { LeasedBatch } from "../store/batch-writes.ts";
import { Turns } from "../turns.ts";
import { failureOf, type JudgedRow, judgeRow } from "./judge-rows.ts";
import type { SentRow, SentRows } from "./sent-row.ts";

/** A batch that a caller creates. */
export interface NewBatch
  extends Pick<Batch, "displayName" | "metadata" | "headers" | "userAgent" | "tags" | "outputLifeMs"> {
  readonly api: BatchApi;
  readonly principal: Principal;
  readonly protocol: EndpointProtocol;
  /** The model in the path, for every row; null: rows name their own. */
  readonly pathModel: string | null;
  readonly inputFileId: string | null;
  readonly rows: SentRows;
  /** `batch`: one bad row refuses the whole batch, with the numbers of all bad lines. `row`: it is an error among the results. */
  readonly refuses: "batch" | "row";
  readonly signal: CallSignal;
}

/** The lease while rows are read: longer than a body may take to arrive. It is renewed with the rows that are stored together. */
const acceptLeaseMs = 2 * bounds.requestBodyTotalMs;
const rowsStoredTogether = 50;

/**
 * Reads, judges and stores the rows of a batch, and holds their worst case. Only then can callers see it. Throws
 * Failure; then nothing is held or stored.
 */
export async function acceptBatch(
  dependencies: BatchesOptions & { readonly holds: BatchHolds },
  request: NewBatch,
): Promise<Batch> {
  return await new Acceptance(dependencies, request).run();
}

class Acceptance {
  readonly #dependencies: BatchesOptions & { readonly holds: BatchHolds };
  readonly #request: NewBatch;
  readonly #customIds = new Set<string>();
  readonly #errors: BatchError[] = [];
  readonly #holds: number[] = [];
  readonly #models = new Set<string>();
  /** Worst cases by piece: at the normal price, and at the vendor's batch price. */
  readonly #pieces: { normal: number; vendor: number }[] = [];
  /** null: no vendor can run all rows as a batch. */
  #place: BatchPlace | null = null;
  #maySend: boolean;
  #rows: BatchRow[] = [];
  #total = 0;
  #errored = 0;
  /** Bytes of the input so far. */
  #size = 0;
  #leased!: LeasedBatch;

  constructor(dependencies: BatchesOptions & { readonly holds: BatchHolds }, request: NewBatch) {
    this.#dependencies = dependencies;
    this.#request = request;
    // Guardrails check answers and restore masked values in them, so the gateway runs such rows itself.
    this.#maySend = !dependencies.relay.hasGuardrails(request.principal);
  }

  async run(): Promise<Batch> {
    const { store, clock, blobs, holds, instanceId } = this.#dependencies;
    const draft = this.#draft();
    this.#leased = await store.create(draft, instanceId, clock.now() + acceptLeaseMs);
    let input: BlobInfo | null = null;
    const end = new AbortController();
    try {
      const bodies = this.#bodies();
      const stream = pulledStream(
        async () => (await bodies.next()).value ?? null,
        () => void bodies.return(undefined),
      );
      const bytesMax = batchBounds.bytesMax[this.#request.api] * 2;
      // A row names the blob before it is there, so that it can be found if this process dies.
      input = await blobs.put(stream, bytesMax, end.signal, async ({ hash }) => {
        await store.step(this.#leased, { inputHash: hash }, false);
      });
      if (this.#total === 0) throw new Failure("invalid_request", "The batch has no rows.");
      const refused = this.#errors.length > 0;
      if (refused) await this.#forget(input);
      else await this.#hold();
      const now = clock.now();
      const step: Partial<Batch> = {
        ...{ state: refused ? "failed" : "in_progress", errors: this.#errors, holds: refused ? [] : this.#holds },
        ...{ total: this.#total, errored: refused ? 0 : this.#errored, inputHash: refused ? null : input.hash },
        ...(refused
          ? { endedAt: now }
          : { startedAt: now, progressAt: now, dueAt: now, model: this.#uniformModel(), ...this.#vendorFields() }),
      };
      if (!(await store.step(this.#leased, step, true))) throw new Error("the lease of a new batch was lost");
      return { ...draft, ...step, dueAt: refused ? null : now };
    } catch (thrown) {
      holds.endAll({ id: draft.id, holds: this.#holds });
      await this.#forget(input);
      await store.discard(this.#leased);
      throw thrown;
    }
  }

  #uniformModel(): string {
    const [model = ""] = this.#models;
    return this.#models.size === 1 ? model : "";
  }

  #draft(): Batch {
    const { clock, ids } = this.#dependencies;
    const { api, principal, protocol, pathModel, inputFileId } = this.#request;
    const { displayName, metadata, headers, userAgent, tags, outputLifeMs } = this.#request;
    const now = clock.now();
    return {
      id: ids.next("batch_"),
      ...{ workspaceId: principal.workspace.id, groupId: principal.group.id, keyId: principal.key.id },
      ...peopleFields(principal),
      ...{ api, endpoint: protocol.endpoint, model: pathModel ?? "", state: "validating" },
      ...{ displayName, metadata, headers, userAgent, tags, outputLifeMs },
      ...{ inputFileId, inputHash: null, outputHash: null, outputBytes: 0, outputFileId: null, errorFileId: null },
      ...{ errors: [], total: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0, costNanoUsd: 0, holds: [] },
      ...{ inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0, budgets: budgetNames(principal) },
      ...{
        provider: null,
        deployment: null,
        upstreamModel: null,
        priceVersion: null,
        uploadId: null,
        submittedAt: null,
      },
      ...{ upstreamId: null, vendorHash: null, vendorBytes: 0, vendorLines: 0 },
      ...{ createdAt: now, startedAt: null, progressAt: null, finalizingAt: null, endedAt: null, cancelAt: null },
      ...{
        expiresAt: now + batchBounds.windowMs[api],
        deleteAt: now + batchBounds.retentionMs,
        dueAt: now + acceptLeaseMs,
        hintAt: null,
      },
    };
  }

  /** The input: the bodies of good rows, after a line that makes it unlike any other. */
  async *#bodies(): AsyncGenerator<Uint8Array, undefined, undefined> {
    const { api, rows } = this.#request;
    const head = Buffer.from(`${this.#leased.batch.id}\n`);
    this.#size = head.length;
    yield head;
    const turns = new Turns(this.#dependencies.clock);
    for await (const row of rows) {
      await turns.pause();
      if (++this.#total > batchBounds.rowsMax[api]) {
        throw new Failure("request_too_large", `The batch has more than ${batchBounds.rowsMax[api]} rows.`);
      }
      const body = await this.#take(row);
      if (body !== null) yield body;
    }
    await this.#storeRows();
    return undefined;
  }

  /** The body of the row as it is kept; null: it is refused. */
  async #take(row: SentRow): Promise<Uint8Array | null> {
    const { id } = this.#leased.batch;
    const { line } = row;
    const position = this.#total - 1;
    const customId = row.customId ?? "";
    try {
      if (row.customId !== null && this.#customIds.has(customId)) {
        throw new Failure("invalid_request", `The custom_id "${customId}" occurs more than once.`, {
          param: "custom_id",
        });
      }
      this.#customIds.add(customId);
      if (row.body instanceof Failure) throw row.body;
      const requestId = batchRequestId(id, position);
      const judged = { batch: this.#leased.batch, ...this.#request };
      const found = await judgeRow(this.#dependencies, judged, requestId, customId, row.body, this.#maySend);
      const { body } = found;
      this.#count(found, position);
      const size = body.length;
      await this.#add({ ...this.#newRow(position, customId), start: this.#size, bytes: size });
      this.#size += size;
      return body;
    } catch (thrown) {
      await this.#refuse(failureOf(thrown), row, position, line);
      return null;
    }
  }

  #newRow(position: number, customId: string): BatchRow {
    const { id: batchId } = this.#leased.batch;
    return {
      batchId,
      position,
      customId,
      start: 0,
      bytes: 0,
      state: "pending",
      owner: null,
      httpStatus: null,
      result: null,
    };
  }

  async #refuse(failure: Failure, { customId, body }: SentRow, position: number, line: number): Promise<void> {
    const { code, message, param = null } = failure;
    if (this.#request.refuses === "batch") {
      if (this.#errors.length < batchBounds.errorsMax) this.#errors.push({ code, message, param, line });
      return;
    }
    // The list of rows itself is wrong.
    if (customId === null || body instanceof Failure || param === "custom_id") {
      throw failure.with({ message: `requests.${position}: ${message}` });
    }
    this.#errored++;
    const { dialect } = this.#request.protocol;
    const result = dialect.renderError(failure, batchRequestId(this.#leased.batch.id, position));
    await this.#add({ ...this.#newRow(position, customId), state: "errored", httpStatus: failure.status, result });
  }

  async #add(row: BatchRow): Promise<void> {
    this.#rows.push(row);
    if (this.#rows.length >= rowsStoredTogether) await this.#storeRows();
  }

  async #storeRows(): Promise<void> {
    const { store, clock } = this.#dependencies;
    const rows = this.#rows;
    this.#rows = [];
    // A batch that is refused needs no rows.
    if (rows.length === 0 || this.#errors.length > 0) return;
    await store.addRows(rows);
    if ((await store.renew(this.#leased, clock.now() + acceptLeaseMs)) === null)
      throw new Error("the lease of a new batch was lost");
  }

  #count({ most, model, vendor }: JudgedRow, position: number): void {
    if (this.#models.size < 2) this.#models.add(model);
    const isFirst = this.#pieces.length === 0;
    this.#maySend &&= vendor !== null && (isFirst || vendor.place === this.#place);
    this.#place = this.#maySend ? (vendor?.place ?? null) : null;
    const index = Math.floor(position / batchPieceRows);
    while (this.#pieces.length <= index) this.#pieces.push({ normal: 0, vendor: 0 });
    const piece = this.#pieces[index];
    if (piece === undefined) return;
    piece.normal += most;
    piece.vendor += vendor?.most ?? 0;
  }

  /** The vendor runs it, if it can run every row. */
  #vendorFields(): Partial<Batch> {
    const place = this.#place;
    if (place === null || this.#total > place.adapter.rowsMax) return {};
    const { deployment, priceVersion } = place;
    const { provider, id, upstreamModel } = deployment;
    return { provider: provider.id, deployment: id, upstreamModel, priceVersion };
  }

  /** Holds the worst case of all rows. Throws budget_exceeded or budget_held. */
  async #hold(): Promise<void> {
    const { provider = null } = this.#vendorFields();
    const batch = { ...this.#leased.batch, model: this.#uniformModel(), provider };
    for (const [index, { normal, vendor }] of this.#pieces.entries()) {
      const nanoUsd = Math.ceil(provider === null ? normal : vendor);
      await this.#dependencies.holds.hold(this.#request.principal, batch, index, nanoUsd);
      this.#holds.push(nanoUsd);
    }
  }

  async #forget(input: BlobInfo | null): Promise<void> {
    const { store, blobs } = this.#dependencies;
    await store.deleteRows(this.#leased.batch.id);
    if (input !== null) await blobs.remove(input.hash);
  }
}
