import {
  asFailure,
  type Batch,
  type BatchRow,
  batchPieceRows,
  batchRequestId,
  Failure,
  LeaveSignal,
  oncePerObject,
  type Principal,
  sleep,
  within,
} from "#core/index.ts";
import { callableModels, noModel } from "#identity/index.ts";
import type { AttemptSums } from "#ports/index.ts";
import type { EndpointProtocol } from "#protocols/index.ts";
import type { CallResult } from "#relay/index.ts";
import { readRow } from "../accept/judge-rows.ts";
import { batchBounds } from "../batch-bounds.ts";
import type { BatchHolds } from "../holds.ts";
import type { BatchesOptions } from "../options.ts";
import { maySend, pathModelOf, protocolOf, rowCall, withAddedBudgets, withoutBudgets } from "../row-call.ts";
import type { LeasedBatch } from "../store/batch-writes.ts";
import type { EndedRow } from "../store/row-writes.ts";
import { Turns } from "../turns.ts";
import type { Pauses } from "./pauses.ts";
import { RowBodies } from "./row-bodies.ts";
import type { RowSlots } from "./row-slots.ts";

export interface RunDependencies extends BatchesOptions {
  readonly holds: BatchHolds;
  readonly slots: RowSlots;
  readonly pauses: Pauses;
  /** Rows that ended in this process, and how many of them failed. */
  readonly counts: { rows: number; failed: number };
}

/**
 * ended    every row has ended
 * stopped  the process ends: another one continues
 * lost     another process has the lease
 * waiting  rows of another process are open
 */
export type RunEnd = "ended" | "stopped" | "lost" | "waiting";

export const batchLeaseMs = 60_000;
const renewMs = 10_000;
/** Ends of rows that are stored together, and the longest wait for more. */
const storedTogether = 32;
const storeMs = 250;
/** Tries of a row that upstreams refuse for a while, and the waits between them. */
const triesMax = 6;
const retryMs = 1_000;
const retryMsMax = 60_000;
/** Interval of checks of limits that are used up. */
const limitMsMin = 200;
const limitMsMax = 5_000;
const principalMs = 5_000;
/** How long running rows are awaited when the process ends. */
const stopMs = 5_000;
const storeRetryMs = 1_000;

/** Runs the rows of one batch through the relay, within the limits of its key. */
export class OwnRun {
  readonly #dependencies: RunDependencies;
  readonly #leased: LeasedBatch;
  readonly #protocol: EndpointProtocol;
  /** Aborts when the process ends. */
  readonly #stopping: AbortSignal;
  /** Aborts running rows. */
  readonly #abort = new LeaveSignal();
  #batch: Batch;
  readonly #bodies: RowBodies;
  /** Rows that this process has taken. `#later`: they wait for their next try. */
  #queue: BatchRow[] = [];
  #later: { readonly row: BatchRow; readonly dueMs: number }[] = [];
  readonly #tries = new Map<number, number>();
  readonly #running = new Set<Promise<void>>();
  /** Open rows by piece. */
  readonly #open = new Map<number, number>();
  #ended: EndedRow[] = [];
  #storing: Promise<void> | null = null;
  #stopTimer: (() => void) | null = null;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #principal: { readonly found: Principal | null; readonly atMs: number } | null = null;
  readonly #rowPrincipal = oncePerObject((principal: Principal) => withAddedBudgets(principal, this.#batch));
  #isLost = false;
  #rowEnded: () => void = () => undefined;

  constructor(dependencies: RunDependencies, leased: LeasedBatch, stopping: AbortSignal) {
    this.#dependencies = dependencies;
    this.#leased = leased;
    this.#batch = leased.batch;
    this.#stopping = stopping;
    this.#protocol = protocolOf(leased.batch);
    this.#bodies = new RowBodies(dependencies.blobs, leased.batch.inputHash ?? "");
  }

  /** The state of the batch may have changed. */
  check(): void {
    this.#renewedMs = Number.NEGATIVE_INFINITY;
  }

  async run(): Promise<RunEnd> {
    const { store, instanceId, clock } = this.#dependencies;
    if (this.#stopping.aborted) return "stopped";
    // If the database failed, an earlier run here could not return the rows that it had taken and not sent. Its other rows are stored.
    await store.returnRows(this.#batch.id, instanceId);
    for (const { piece, rows } of await store.openPieces(this.#batch.id)) this.#open.set(piece, rows);
    const end = await this.#dispatch().finally(() => this.#awaitRows());
    const rest = [...this.#queue, ...this.#later.map(({ row }) => row)].map(({ position }) => position);
    if (rest.length > 0) await store.returnRows(this.#batch.id, instanceId, rest);
    if (end === "stopped" || end === "lost") return end;
    if (end !== "empty") await store.endPending(this.#batch.id, end, clock.now());
    return (await store.openPieces(this.#batch.id)).length === 0 ? "ended" : "waiting";
  }

  /** Starts rows until there is none left, or none may begin any more. */
  async #dispatch(): Promise<"empty" | "canceled" | "expired" | "stopped" | "lost"> {
    const { clock, slots, store } = this.#dependencies;
    const turns = new Turns(clock);
    for (;;) {
      if (this.#stopping.aborted) return "stopped";
      if (!(await this.#renew())) return "lost";
      if (this.#batch.state !== "in_progress") return "canceled";
      if (clock.now() >= this.#batch.expiresAt) return "expired";
      if (this.#storing !== null && this.#ended.length >= storedTogether) {
        // A crash loses the answers that are not stored.
        await within(clock, limitMsMax, this.#storing, () => undefined, this.#stopping);
        continue;
      }
      const row = await this.#next();
      if (row === "wait") {
        await this.#pause(limitMsMin);
        continue;
      }
      if (row === null) return "empty";
      const principal = await this.#findPrincipal();
      if (principal === null) {
        this.#queue.unshift(row);
        await store.cancel(this.#batch.workspaceId, this.#batch.id, clock.now());
        return "canceled";
      }
      const waitMs = this.#waitOf(principal);
      const isGranted = waitMs === 0 && (await slots.take(this.#batch.workspaceId, this.#stopping));
      if (!isGranted) {
        this.#queue.unshift(row);
        if (waitMs > 0) await this.#pause(waitMs);
        continue;
      }
      const body = this.#bodies.of(row);
      await body.catch(() => undefined);
      // The bodies of many rows are read at once, and the answers to many rows may arrive at once.
      await turns.pause();
      const running = this.#start(row, body, principal).finally(() => {
        slots.release(this.#batch.workspaceId);
        this.#running.delete(running);
        this.#rowEnded();
      });
      this.#running.add(running);
    }
  }

  /** The next row. `wait`: one runs or waits for its next try. null: none is left here. */
  async #next(): Promise<BatchRow | "wait" | null> {
    const { store, clock, instanceId } = this.#dependencies;
    const nowMs = clock.monotonic();
    const due = this.#later.findIndex(({ dueMs }) => dueMs <= nowMs);
    if (due !== -1) return (this.#later.splice(due, 1)[0] as { readonly row: BatchRow }).row;
    if (this.#queue.length === 0) {
      this.#queue = [...(await store.takeRows(this.#batch.id, instanceId, batchBounds.claimRowsMax))];
    }
    const row = this.#queue.shift();
    if (row !== undefined) return row;
    return this.#later.length > 0 || this.#running.size > 0 ? "wait" : null;
  }

  /** Milliseconds until a row may begin: other calls of its workspace and key go first. */
  #waitOf(principal: Principal): number {
    const { admission, pauses } = this.#dependencies;
    const pausedMs = pauses.leftMs(this.#batch.workspaceId);
    if (pausedMs > 0) return Math.min(pausedMs, limitMsMax);
    try {
      admission.check(withoutBudgets(principal));
      return 0;
    } catch (thrown) {
      return waitAfter(asFailure(thrown));
    }
  }

  async #start(row: BatchRow, body: Promise<Uint8Array>, principal: Principal): Promise<void> {
    const attempts: AttemptSums = {
      count: 0,
      inputTokens: 0,
      outputTokens: 0,
      costNanoUsd: 0,
      last: null,
      fault: null,
    };
    let result: CallResult;
    try {
      result = await this.#call(row, await body, principal, attempts);
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.code === "internal_error") {
        this.#dependencies.observer.log("error", "failed to run a row of a batch", {
          batch: this.#batch.id,
          row: row.position,
          error: failure.cause,
        });
      }
      result = { failure, headers: {} };
    }
    if ("failure" in result) this.#failed(row, result.failure, attempts);
    else await this.#answered(row, result, attempts);
  }

  async #call(row: BatchRow, sent: Uint8Array, principal: Principal, attempts: AttemptSums): Promise<CallResult> {
    const { relay, configSnapshot, clock } = this.#dependencies;
    const protocol = this.#protocol;
    const startedMs = clock.monotonic();
    const { facts, body } = await readRow(
      this.#dependencies,
      { protocol, principal, pathModel: pathModelOf(this.#batch) },
      sent,
    );
    const models = callableModels(configSnapshot(), principal, facts.model);
    if (models.length === 0) throw noModel(configSnapshot(), principal, facts.model);
    const call = rowCall({
      ...{ batch: this.#batch, customId: row.customId, requestId: batchRequestId(this.#batch.id, row.position) },
      ...{
        principal: this.#rowPrincipal(principal),
        protocol,
        facts,
        body,
        models,
        attempts,
        startedMs,
        signal: this.#abort,
      },
    });
    return await relay.run(call);
  }

  async #answered(
    row: BatchRow,
    { status, body }: Exclude<CallResult, { readonly failure: Failure }>,
    attempts: AttemptSums,
  ): Promise<void> {
    if (!(body instanceof Uint8Array)) {
      body.cancel();
      this.#fail(row, new Failure("upstream_error", "The upstream sent a stream instead of a whole answer."), attempts);
      return;
    }
    const text = body.length > batchBounds.resultBytesMax ? null : onOneLine(body);
    if (text === null)
      this.#fail(row, new Failure("upstream_error", "The answer is no JSON, or too large for a batch."), attempts);
    else this.#end(row, { state: status < 400 ? "succeeded" : "errored", httpStatus: status, result: text }, attempts);
  }

  #failed(row: BatchRow, failure: Failure, attempts: AttemptSums): void {
    const { clock } = this.#dependencies;
    const isFree = attempts.costNanoUsd === 0;
    if (this.#abort.aborted && attempts.count === 0) {
      this.#queue.push(row);
      return;
    }
    if (isFree && failure.upstream === undefined && ownLimits.has(failure.code)) {
      this.#later.push({ row, dueMs: clock.monotonic() + waitAfter(failure) });
      return;
    }
    const tries = (this.#tries.get(row.position) ?? 0) + 1;
    if (isFree && tries < triesMax && isPassing(failure)) {
      this.#tries.set(row.position, tries);
      const waitMs = Math.min(retryMsMax, Math.max(failure.retryAfterMs ?? 0, retryMs * 2 ** (tries - 1)));
      this.#later.push({ row, dueMs: clock.monotonic() + waitMs });
      return;
    }
    this.#fail(row, failure, attempts);
  }

  #fail(row: BatchRow, failure: Failure, attempts: AttemptSums): void {
    const requestId = batchRequestId(this.#batch.id, row.position);
    const { upstream } = failure;
    const own = this.#protocol.dialect.renderError(failure, requestId);
    const result = upstream === undefined ? own : (onOneLine(Buffer.from(upstream.body)) ?? own);
    this.#end(row, { state: "errored", httpStatus: upstream?.status ?? failure.status, result }, attempts);
  }

  #end(
    { position, customId, start, bytes }: BatchRow,
    end: Pick<EndedRow, "state" | "httpStatus" | "result">,
    { costNanoUsd, last }: AttemptSums,
  ): void {
    this.#tries.delete(position);
    const { counts } = this.#dependencies;
    counts.rows++;
    if (end.state === "errored") counts.failed++;
    this.#ended.push({ position, customId, start, bytes, ...end, costNanoUsd, usage: last?.usage ?? null });
    if (this.#ended.length >= storedTogether) this.#storeEnded();
    else this.#stopTimer ??= this.#dependencies.clock.after(storeMs, () => this.#storeEnded());
  }

  #storeEnded(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    this.#storing ??= this.#store().finally(() => {
      this.#storing = null;
      if (this.#ended.length >= storedTogether) this.#storeEnded();
    });
  }

  /** Retries until the ends are stored. */
  async #store(): Promise<void> {
    const { store, instanceId, holds, clock, observer } = this.#dependencies;
    while (this.#ended.length > 0) {
      const rows = this.#ended.splice(0, storedTogether);
      for (let waitMs = storeRetryMs; ; waitMs = Math.min(2 * waitMs, retryMsMax)) {
        try {
          await store.endRows(this.#batch.id, instanceId, rows, clock.now());
          break;
        } catch (error) {
          observer.log("warn", "failed to store the ends of batch rows; retrying", {
            batch: this.#batch.id,
            rows: rows.length,
            error,
          });
          if (this.#stopping.aborted) return;
          await sleep(clock, waitMs, this.#stopping);
        }
      }
      for (const { position } of rows) {
        const piece = Math.floor(position / batchPieceRows);
        const left = (this.#open.get(piece) ?? 0) - 1;
        this.#open.set(piece, left);
        if (left === 0) holds.end(this.#batch.id, piece);
      }
    }
  }

  /** Awaits running rows and stores their ends. */
  async #awaitRows(): Promise<void> {
    const { clock } = this.#dependencies;
    const ended = Promise.all(this.#running);
    while (this.#running.size > 0 && !this.#stopping.aborted) {
      await within(clock, renewMs, ended, () => undefined, this.#stopping);
      // Without the lease, or without the database for now, the rows are stored all the same.
      if (!this.#isLost) await this.#renew().catch(() => undefined);
    }
    const stopTimer = clock.after(stopMs, () => this.#abort.abort());
    await ended;
    stopTimer();
    this.#storeEnded();
    while (this.#storing !== null) await this.#storing;
  }

  /** False: the lease was lost. */
  async #renew(): Promise<boolean> {
    const { store, clock } = this.#dependencies;
    const nowMs = clock.monotonic();
    if (nowMs - this.#renewedMs < renewMs) return !this.#isLost;
    this.#renewedMs = nowMs;
    const batch = await store.renew(this.#leased, clock.now() + batchLeaseMs);
    this.#isLost = batch === null;
    if (batch !== null) this.#batch = batch;
    return !this.#isLost;
  }

  /** null: the key may not call any more. */
  async #findPrincipal(): Promise<Principal | null> {
    const { clock, principalOf, admission } = this.#dependencies;
    const nowMs = clock.monotonic();
    if (this.#principal === null || nowMs - this.#principal.atMs >= principalMs) {
      this.#principal = { found: await principalOf(this.#batch), atMs: nowMs };
      // Rows are admitted without most budgets, but their entries count.
      if (this.#principal.found !== null) admission.countBudgets(this.#principal.found);
    }
    const { found } = this.#principal;
    return found !== null && maySend(found, clock.now()) ? found : null;
  }

  /** Waits until a row ends, which may make room in a limit, but not longer than `ms`. */
  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#rowEnded = resolve;
    await within(this.#dependencies.clock, ms, promise, () => undefined, this.#stopping);
  }
}

/** A row waits for these. A budget that is used up refuses it. */
const ownLimits: ReadonlySet<string> = new Set(["rate_limit_exceeded", "budget_held", "ledger_unavailable"]);

function waitAfter({ retryAfterMs }: Failure): number {
  return Math.min(limitMsMax, Math.max(limitMsMin, retryAfterMs ?? 0));
}

/** Upstreams do not take the call now, and did not execute it. */
function isPassing({ code, arrival, upstream, status }: Failure): boolean {
  if (arrival === "unknown") return false;
  return code === "no_deployment_available" || passingStatuses.has(upstream?.status ?? status);
}

const passingStatuses: ReadonlySet<number> = new Set([429, 503, 529]);

/** null: it is no JSON. */
function onOneLine(body: Uint8Array): string | null {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  try {
    // Checked in any case: a result file with one bad line is of no use.
    const value: unknown = JSON.parse(text);
    return text.includes("\n") || text.includes("\r") ? JSON.stringify(value) : text;
  } catch {
    return null;
  }
}
