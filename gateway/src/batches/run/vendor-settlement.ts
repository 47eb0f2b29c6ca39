import {
  type Batch,
  type BatchRow,
  batchRequestId,
  blankEntry,
  Failure,
  type LedgerEntry,
  noUsage,
  type PriceVersion,
  type Provider,
  settle,
} from "#core/index.ts";
import { rawUsageWithin, wholeUsage } from "#ledger/index.ts";
import { type BatchAdapter, type BatchLine, priceTermsOf } from "#providers/index.ts";
import { measuredReply, pricesAt } from "#relay/index.ts";
import { jsonLines } from "../accept/json-lines.ts";
import { protocolOf } from "../row-call.ts";
import type { LeasedBatch } from "../store/batch-writes.ts";
import type { SettledRow } from "../store/row-writes.ts";
import { nextTurn, Turns } from "../turns.ts";
import type { RunDependencies } from "./own-run.ts";

/**
 * Rows that are settled in one transaction, of which the first are shorter: code that runs for the first time is slow. Statements and
 * entries are made on the thread of the event loop, and SQLite runs there.
 */
const rowsTogether = { first: 3, sqlite: 12, postgres: 25 } as const;
const retryMs = 30_000;

/** Ends the rows of a vendor's batch, with an entry in the ledger for each that was executed. */
export class VendorSettlement {
  readonly #dependencies: RunDependencies;
  readonly #leased: LeasedBatch;
  readonly #batch: Batch;
  readonly #provider: Provider;
  readonly #adapter: BatchAdapter;

  constructor(dependencies: RunDependencies, leased: LeasedBatch, provider: Provider, adapter: BatchAdapter) {
    this.#dependencies = dependencies;
    this.#leased = leased;
    this.#batch = leased.batch;
    this.#provider = provider;
    this.#adapter = adapter;
  }

  /** Writes the entries of the rows in the vendor's result, from the last line that was settled. */
  async settle(hash: string): Promise<"ended" | number> {
    const { blobs, store, ledger, clock } = this.#dependencies;
    const { vendorBytes, vendorLines, priceVersion, cancelAt } = this.#batch;
    const stream = await blobs.read(hash, 0, vendorBytes);
    if (stream === null) {
      // The process died before the blob was stored.
      await store.step(this.#leased, { vendorHash: null }, false);
      return 0;
    }
    const price = priceVersion === null ? null : await ledger.price(priceVersion);
    let together: number = rowsTogether.first;
    let lines = new Map<number, BatchLine>();
    let count = 0;
    let unread = 0;
    const turns = new Turns(clock);
    for await (const { bytes } of jsonLines(stream)) {
      await turns.pause();
      count++;
      // The first line is ours.
      if (count === 1) continue;
      const line = bytes === null ? null : this.#adapter.readLine(bytes);
      const position = line === null ? null : positionIn(this.#batch, line.customId);
      if (line === null || position === null) unread++;
      else if (count > vendorLines) lines.set(position, line);
      if (lines.size < together) continue;
      if (!(await this.#settleLines(lines, count, price))) return retryMs;
      lines = new Map();
      together = Math.min(2 * together, rowsTogether[this.#dependencies.flavour]);
    }
    if (!(await this.#settleLines(lines, count, price))) return retryMs;
    if (unread === 0) await store.endPending(this.#batch.id, cancelAt === null ? "expired" : "canceled", clock.now());
    else if ((await this.#endUnread(unread)) !== "ended") return retryMs;
    await blobs.remove(hash);
    return "ended";
  }

  /** Rows without a readable line were executed, so their input is charged. */
  async #endUnread(lines: number): Promise<"ended" | number> {
    const message = "a vendor's result has lines that cannot be read; rows without a line are charged as estimates";
    this.#dependencies.observer.log("warn", message, { batch: this.#batch.id, lines });
    const why = "The upstream's result has no readable answer to this request.";
    return await this.endWith(new Failure("upstream_error", why), 502, true);
  }

  async #settleLines(
    lines: ReadonlyMap<number, BatchLine>,
    count: number,
    price: PriceVersion | null,
  ): Promise<boolean> {
    const { store, observer, counts, clock } = this.#dependencies;
    const rows = await store.rowsAt(this.#batch.id, [...lines.keys()]);
    const turns = new Turns(clock);
    const settled: SettledRow[] = [];
    for (const row of rows) {
      await turns.pause();
      const line = lines.get(row.position);
      if (line !== undefined) settled.push(this.#settledRow(row, line, price));
    }
    const entries = await store.settleRows(this.#leased, settled, count, clock.now());
    if (entries === null) return false;
    for (const entry of entries) observer.attemptEnd(entry);
    counts.rows += entries.length;
    counts.failed += entries.filter(({ outcome }) => outcome !== "succeeded").length;
    // Other work has its turn between two transactions.
    await nextTurn();
    return true;
  }

  #settledRow(row: BatchRow, line: BatchLine, price: PriceVersion | null): SettledRow {
    const { position, customId, start, bytes } = row;
    const about = { position, customId, start, bytes };
    if (line.end !== "answered" || line.body === null) {
      const state = line.end === "answered" ? "errored" : line.end;
      return { ...about, state, httpStatus: line.status, result: null, costNanoUsd: 0, usage: null, entry: null };
    }
    const entry = this.#entryOf(row, line.status, Buffer.from(line.body), price);
    const state = line.status < 400 ? "succeeded" : "errored";
    const { costNanoUsd, usage } = entry;
    return { ...about, state, httpStatus: line.status, result: line.body, costNanoUsd, usage, entry };
  }

  /** `body` null: the vendor did not report how the row ended, so its input is charged. */
  #entryOf(row: BatchRow, status: number, body: Uint8Array | null, price: PriceVersion | null): LedgerEntry {
    const { clock, configSnapshot } = this.#dependencies;
    const batch = this.#batch;
    const protocol = protocolOf(batch);
    const isGood = body !== null && status < 400;
    const inputEstimate = Math.ceil(row.bytes / 4);
    const facts = isGood ? protocol.wire.readReply(body) : null;
    const used =
      facts !== null
        ? measuredReply(facts, { inputTokens: () => inputEstimate })
        : {
            usage: body === null ? { ...noUsage, inputUncached: inputEstimate } : noUsage,
            source: body === null ? ("estimated" as const) : ("none" as const),
            served: undefined,
          };
    const usage = wholeUsage(used.usage);
    const now = clock.now();
    const at = batch.submittedAt ?? batch.createdAt;
    const upstreamModel = batch.upstreamModel ?? "";
    const requestId = batchRequestId(batch.id, row.position);
    return {
      ...blankEntry,
      attemptId: requestId.replace(/^req_/, "att_"),
      requestId,
      at,
      workspaceId: batch.workspaceId,
      groupId: batch.groupId,
      keyId: batch.keyId,
      ...(batch.personId === undefined ? {} : { personId: batch.personId }),
      ...(batch.actorId === undefined ? {} : { actorId: batch.actorId }),
      model: batch.model,
      requestedModel: batch.model,
      provider: this.#provider.id,
      deployment: batch.deployment ?? "",
      upstreamModel,
      endpoint: batch.endpoint,
      callerDialect: protocol.wireDialect,
      upstreamDialect: protocol.wireDialect,
      inputEstimate,
      userAgent: batch.userAgent,
      tags: batch.tags,
      batchId: batch.id,
      customId: row.customId,
      endedAt: now,
      outcome: isGood ? "succeeded" : "failed",
      httpStatus: status,
      upstreamStatus: body === null ? null : status,
      errorCode: isGood ? null : "upstream_error",
      usage,
      usageSource: used.source,
      rawUsage: rawUsageWithin(facts?.usage?.raw ?? null),
      ...settle({
        ...{ price, usage, upstreamModel, terms: priceTermsOf(this.#provider) },
        // A row has the batch price, even if its own answer names another tier.
        served: { ...used.served, tier: "batch" },
        priceOf: pricesAt(configSnapshot(), this.#provider.id),
      }),
      totalMs: Math.max(0, now - at),
    };
  }

  /** Ends every open row with this failure. `isCharged`: its input is charged, because it may have been executed. */
  async endWith(failure: Failure, status: number, isCharged = false): Promise<"ended" | number> {
    const { store, ledger, observer, clock } = this.#dependencies;
    const { priceVersion } = this.#batch;
    const price = priceVersion === null ? null : await ledger.price(priceVersion);
    const { dialect } = protocolOf(this.#batch);
    let after = -1;
    for (;;) {
      const rows = await store.rows(this.#batch.id, after, rowsTogether.sqlite);
      const last = rows.at(-1);
      if (last === undefined) return "ended";
      after = last.position;
      const settled = rows.map(({ position, customId, start, bytes, ...row }): SettledRow => {
        const result = dialect.renderError(failure, batchRequestId(this.#batch.id, position));
        const entry = isCharged
          ? this.#entryOf({ position, customId, start, bytes, ...row }, status, null, price)
          : null;
        return {
          position,
          customId,
          start,
          bytes,
          state: "errored",
          httpStatus: status,
          result,
          costNanoUsd: entry?.costNanoUsd ?? 0,
          usage: null,
          entry,
        };
      });
      const entries = await store.settleRows(this.#leased, settled, this.#batch.vendorLines, clock.now());
      if (entries === null) return retryMs;
      for (const entry of entries) observer.attemptEnd(entry);
      await nextTurn();
    }
  }
}

/**
 * The name of a row at the vendor. Callers choose custom ids, and vendors have rules for them. The batch is part of the name, because the
 * account may run batches of other workspaces, and one of them could be taken for this one.
 */
export function vendorNameOf({ batchId, position }: Pick<BatchRow, "batchId" | "position">): string {
  return `row-${position}-${batchId.slice("batch_".length)}`;
}

/** null: it is no row of the batch. */
export function positionIn({ id: batchId, total }: Batch, name: string): number | null {
  const position = Number(/^row-(\d+)-/.exec(name)?.[1] ?? total);
  return position < total && name === vendorNameOf({ batchId, position }) ? position : null;
}
