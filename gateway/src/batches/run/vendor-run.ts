import {
  asFailure,
  type Batch,
  type BatchRow,
  batchRequestId,
  bounds,
  Failure,
  type HeaderReader,
  LeaveSignal,
  type Principal,
  type Provider,
  pulledStream,
} from "#core/index.ts";
import { callableModels } from "#identity/index.ts";
import type { OutboundAnswer, OutboundBody, OutboundStream } from "#ports/index.ts";
import {
  type BatchAccount,
  type BatchAdapter,
  type BatchFrame,
  type ListedBatch,
  lanesOf,
  type OutboundDraft,
  type ProviderKind,
  providerKind,
  rootOf,
} from "#providers/index.ts";
import { batchBodyOf, batchPlaceOf } from "#relay/index.ts";
import { jsonLines } from "../accept/json-lines.ts";
import { readRow } from "../accept/judge-rows.ts";
import { maySend, pathModelOf, protocolOf, rowCall } from "../row-call.ts";
import type { LeasedBatch } from "../store/batch-writes.ts";
import { Turns } from "../turns.ts";
import type { RunDependencies } from "./own-run.ts";
import { RowBodies } from "./row-bodies.ts";
import { positionIn, VendorSettlement, vendorNameOf } from "./vendor-settlement.ts";

/** Between two polls: shorter for a new batch. */
const pollMsMin = 5_000;
const pollMsMax = 60_000;
const retryMs = 30_000;
/** A creation that is not in the vendor's list this long after its request has ended was not received. */
const unlistedMs = 600_000;
/** The clocks of the vendor and of this machine may differ. */
const clockSlackMs = 120_000;
/** A vendor that has not ended a batch this long after its expiry has lost it. */
const lateMs = 3_600_000;
const rowsPage = 25;
const clocks = { connectMs: bounds.taskPollConnectMs, headersMs: 120_000, totalMs: 3_600_000 };
/** A creation without rows is short. */
const shortMs = 180_000;
/** How many batches a vendor lists at once: its newest ones. */
const listedMax = 100;
const pieceMs = 120_000;
const resultBytesMax = 16 * 1024 * 1024 * 1024;

/** A batch that its vendor runs. Each step is stored before the next one, so that any process can continue. */
export class VendorRun {
  readonly #dependencies: RunDependencies;
  readonly #leased: LeasedBatch;
  readonly #batch: Batch;
  readonly #signal: AbortSignal;
  readonly #provider: Provider;
  readonly #account: BatchAccount;
  readonly #kind: ProviderKind;
  readonly #adapter: BatchAdapter;
  readonly #settlement: VendorSettlement;

  constructor(dependencies: RunDependencies, leased: LeasedBatch, signal: AbortSignal, provider: Provider) {
    const kind = providerKind(provider.kind);
    if (kind?.batches === undefined) throw new Error(`the provider ${provider.id} has no batches`);
    this.#dependencies = dependencies;
    this.#leased = leased;
    this.#batch = leased.batch;
    this.#signal = signal;
    this.#provider = provider;
    this.#account = { provider, root: rootOf(provider) };
    this.#kind = kind;
    this.#adapter = kind.batches;
    this.#settlement = new VendorSettlement(dependencies, leased, provider, kind.batches);
  }

  /** One step. Resolves to `ended` when all rows have ended, else to the wait until the next step in milliseconds. */
  async advance(): Promise<"ended" | number> {
    const { upstreamId, vendorHash, submittedAt, state, expiresAt } = this.#batch;
    const now = this.#dependencies.clock.now();
    const isAllowed = await this.#isAllowed(now);
    if (vendorHash !== null) return await this.#settlement.settle(vendorHash);
    if (!isAllowed && state === "in_progress") {
      await this.#dependencies.store.cancel(this.#batch.workspaceId, this.#batch.id, now);
      return 0;
    }
    if (submittedAt !== null && now > expiresAt + lateMs) return await this.#giveUp();
    if (upstreamId !== null) return await this.#poll(upstreamId);
    if (submittedAt !== null) return await this.#search(submittedAt);
    if (state === "canceling") return await this.#endRest("canceled");
    if (now > expiresAt) return await this.#endRest("expired");
    return await this.#submit();
  }

  /** Whether its key may still call. The budgets of the key count its entries in this process from now on. */
  async #isAllowed(now: number): Promise<boolean> {
    const { principalOf, admission } = this.#dependencies;
    const principal = await principalOf(this.#batch);
    if (principal === null) return false;
    admission.countBudgets(principal);
    return maySend(principal, now);
  }

  async #submit(): Promise<"ended" | number> {
    const { store, clock, blobs } = this.#dependencies;
    const { id, headers, uploadId, upstreamModel } = this.#batch;
    const { upload, frame = null } = this.#adapter;
    const path = this.#path();
    const rows = await blobs.put(this.#lines(path), this.#adapter.bytesMax, new AbortController().signal);
    if (rows.size === 0) {
      await blobs.remove(rows.hash);
      return await this.#endRest("canceled");
    }
    const bodyIn = ({ head, tail }: BatchFrame): OutboundStream => {
      const size = Buffer.byteLength(head) + rows.size + Buffer.byteLength(tail);
      return { size, open: () => framed(head, tail, () => blobs.read(rows.hash, 0, rows.size)) };
    };
    try {
      let uploaded = uploadId ?? "";
      if (upload !== undefined && uploadId === null) {
        const answer = await this.#upload(upload, bodyIn(upload.frame));
        const read = answer.good ? upload.read(answer.body) : null;
        if (read === null) return await this.#refused(answer.good ? 502 : answer.status, answer.failure);
        uploaded = read.id;
        if (!(await store.step(this.#leased, { uploadId: read.id }, false))) return retryMs;
        if (!read.isReady) return pollMsMin;
      }
      // From here on it may exist at the vendor.
      if (!(await store.step(this.#leased, { submittedAt: clock.now() }, false))) return retryMs;
      const draft = this.#adapter.create(this.#account, {
        ...{ ourId: id, endpoint: this.#batch.endpoint, upstreamModel: upstreamModel ?? "" },
        ...{ path, uploadId: uploaded, headers },
      });
      let answer: VendorAnswer;
      try {
        const body = frame === null ? draft.body : bodyIn(frame);
        answer = await this.#send(draft, body, this.#createMs);
      } catch (thrown) {
        if (asFailure(thrown).arrival !== "unsent") return pollMsMin;
        await store.step(this.#leased, { submittedAt: null }, false);
        return retryMs;
      }
      const upstreamId = answer.good ? this.#adapter.readCreated(answer.body) : null;
      if (upstreamId !== null) {
        await store.step(this.#leased, { upstreamId, progressAt: clock.now() }, false);
        return pollMsMin;
      }
      if (answer.good || answer.status >= 500) return pollMsMin;
      await store.step(this.#leased, { submittedAt: null }, false);
      return await this.#refused(answer.status, answer.failure);
    } finally {
      await blobs.remove(rows.hash);
    }
  }

  async #upload(upload: NonNullable<BatchAdapter["upload"]>, body: OutboundStream): Promise<VendorAnswer> {
    const { size } = body;
    const begun = upload.draft(this.#account, size);
    if (upload.send === undefined) return await this.#send(begun, body);
    const answer = await this.#send(begun, begun.body);
    if (!answer.good) return answer;
    const draft = upload.send(this.#account, size, (name) => answer.headers.get(name));
    return draft === null ? answer : await this.#send(draft, body);
  }

  /** Rows as the vendor gets them. A row that cannot be sent any more, because its model or grant has changed, is left out. */
  #lines(path: string): ReadableStream<Uint8Array> {
    const { store, blobs, principalOf } = this.#dependencies;
    const bodies = new RowBodies(blobs, this.#batch.inputHash ?? "");
    const turns = new Turns(this.#dependencies.clock);
    let after = -1;
    let isFirst = true;
    return pulledStream(async () => {
      for (;;) {
        await turns.pause();
        const rows = await store.rows(this.#batch.id, after, rowsPage);
        const last = rows.at(-1);
        if (last === undefined) return null;
        after = last.position;
        const principal = await principalOf(this.#batch);
        const lines: string[] = [];
        for (const row of rows) {
          await turns.pause();
          const isSent = row.state === "pending" && principal !== null;
          const body = isSent ? await this.#bodyOf(row, await bodies.of(row), principal) : null;
          if (body !== null) lines.push(this.#adapter.row(vendorNameOf(row), path, body));
        }
        if (lines.length === 0) continue;
        const text = lines.join(this.#adapter.separator);
        const begun = isFirst ? text : this.#adapter.separator + text;
        isFirst = false;
        return Buffer.from(begun);
      }
    });
  }

  async #bodyOf(row: BatchRow, sent: Uint8Array, principal: Principal): Promise<string | null> {
    const { configSnapshot, clock } = this.#dependencies;
    const protocol = protocolOf(this.#batch);
    const pathModel = pathModelOf(this.#batch);
    const { facts, body } = await readRow(this.#dependencies, { protocol, principal, pathModel }, sent);
    const models = callableModels(configSnapshot(), principal, facts.model);
    const place = models[0] === undefined ? null : batchPlaceOf(models[0], protocol);
    if (place === null || place.deployment.id !== this.#batch.deployment) return null;
    const requestId = batchRequestId(this.#batch.id, row.position);
    const call = rowCall({
      ...{ batch: this.#batch, customId: row.customId, requestId, principal, protocol, facts, body, models },
      ...{ signal: new LeaveSignal(), startedMs: clock.monotonic() },
    });
    const made = batchBodyOf(call, place);
    if (made === null) return null;
    const text = Buffer.from(made).toString("utf8");
    return /[\r\n]/.test(text) ? JSON.stringify(JSON.parse(text)) : text;
  }

  /** The vendor refused the rows as a whole: they end with its error, unless it may accept them later. */
  async #refused(status: number, failure: Failure | null): Promise<"ended" | number> {
    if (status === 429 || status >= 500 || status === 401 || status === 403) return retryMs;
    const message = failure?.message ?? "The upstream refused the batch.";
    return await this.#settlement.endWith(new Failure("upstream_error", message), status);
  }

  /** The answer to the creation is missing: the batch is searched in the vendor's list. */
  async #search(submittedAt: number): Promise<number> {
    const { store, clock, observer } = this.#dependencies;
    const answer = await this.#ask(this.#adapter.list(this.#account));
    if (!answer.good) return retryMs;
    const listed = this.#adapter.readList(answer.body);
    const fromMs = submittedAt - clockSlackMs;
    /** Whether the list would contain it, and does not. */
    let isMissing = listed.length < listedMax || listed.some(({ createdAt }) => createdAt < fromMs);
    for (const one of listed) {
      const isOurs = await this.#isOurs(one, fromMs, submittedAt + this.#createMs + clockSlackMs);
      if (isOurs === true) {
        await store.step(this.#leased, { upstreamId: one.upstreamId, progressAt: clock.now() }, false);
        return pollMsMin;
      }
      if (isOurs === null) isMissing = false;
    }
    if (isMissing && clock.now() - submittedAt >= this.#createMs + unlistedMs) {
      observer.log("warn", "a batch is not in its vendor's list; creating it again", { batch: this.#batch.id });
      await store.step(this.#leased, { submittedAt: null }, false);
    }
    return retryMs;
  }

  /** Whether a listed batch is this one. null: that is unknown until it has ended, because the vendor does not store our id. */
  async #isOurs(listed: ListedBatch, fromMs: number, untilMs: number): Promise<boolean | null> {
    const { upstreamId, ourId, createdAt, total } = listed;
    const { id, total: rows, errored } = this.#batch;
    if (ourId !== null) return ourId === id;
    if (createdAt < fromMs || createdAt > untilMs || total > rows - errored) return false;
    if (await this.#dependencies.store.isOfAnother(id, this.#provider.id, upstreamId)) return false;
    const answer = await this.#ask(this.#adapter.poll(this.#account, upstreamId));
    const [path] = answer.good ? this.#adapter.readReport(upstreamId, answer.body).outputs : [];
    if (path === undefined) return null;
    try {
      for await (const { bytes } of jsonLines(this.#output(path))) {
        const line = bytes === null ? null : this.#adapter.readLine(bytes);
        return line === null ? null : positionIn(this.#batch, line.customId) !== null;
      }
    } catch (error) {
      const fields = { batch: id, upstreamId, error };
      this.#dependencies.observer.log("warn", "failed to read the result of a batch that may be a lost one", fields);
    }
    return null;
  }

  async #poll(upstreamId: string): Promise<"ended" | number> {
    const { clock } = this.#dependencies;
    if (this.#batch.state === "canceling") await this.#ask(this.#adapter.cancel(this.#account, upstreamId));
    const answer = await this.#ask(this.#adapter.poll(this.#account, upstreamId));
    if (!answer.good) return retryMs;
    const { state, outputs, message } = this.#adapter.readReport(upstreamId, answer.body);
    if (state === "refused")
      return await this.#settlement.endWith(
        new Failure("upstream_error", message ?? "The upstream refused the batch."),
        400,
      );
    if (state === "lost")
      return await this.#settlement.endWith(
        new Failure("upstream_error", message ?? "The upstream has no results of the batch."),
        502,
        true,
      );
    if (state === "open") {
      const age = clock.now() - (this.#batch.submittedAt ?? 0);
      return Math.min(pollMsMax, Math.max(pollMsMin, age / 20));
    }
    const results = await this.#download(outputs);
    if (results === null) return retryMs;
    return 0;
  }

  /** All files of the result, one after the other. null: one of them could not be read. */
  async #download(paths: readonly string[]) {
    const { blobs, store, observer } = this.#dependencies;
    const pieces = async function* (this: VendorRun): AsyncGenerator<Uint8Array, undefined, undefined> {
      // It makes the blob unlike any other; it is no row.
      yield Buffer.from(`${JSON.stringify(this.#batch.id)}\n`);
      for (const path of paths) {
        yield* this.#output(path);
        yield Buffer.from("\n");
      }
      return undefined;
    }.call(this);
    const stream = pulledStream(
      async () => (await pieces.next()).value ?? null,
      () => void pieces.return(undefined),
    );
    try {
      return await blobs.put(stream, resultBytesMax, new AbortController().signal, async ({ hash, size }) => {
        await store.step(this.#leased, { vendorHash: hash, vendorBytes: size }, false);
      });
    } catch (error) {
      observer.log("warn", "failed to read the result of a vendor's batch; retrying", { batch: this.#batch.id, error });
      return null;
    }
  }

  async *#output(path: string): AsyncGenerator<Uint8Array, undefined, undefined> {
    const { providerClient } = this.#dependencies;
    const draft = this.#adapter.output(this.#account, path);
    await providerClient.authorize(this.#kind, draft, this.#signal);
    const { status, body }: OutboundAnswer = await providerClient.send(draft, clocks, this.#signal);
    try {
      if (status !== 200) throw new Failure("upstream_error", `The result could not be read (${status}).`);
      for (let piece = await body.read("idle", pieceMs); piece !== null; piece = await body.read("idle", pieceMs)) {
        yield piece;
      }
      return undefined;
    } finally {
      body.cancel();
    }
  }

  async #endRest(state: "canceled" | "expired"): Promise<"ended"> {
    const { store, clock } = this.#dependencies;
    await store.endPending(this.#batch.id, state, clock.now());
    return "ended";
  }

  /** The vendor does not answer any more: every row may have been executed, so its input is charged. */
  async #giveUp(): Promise<"ended" | number> {
    this.#dependencies.observer.log("warn", "a vendor's batch did not end; its rows are charged as estimates", {
      batch: this.#batch.id,
    });
    return await this.#settlement.endWith(
      new Failure("upstream_timeout", "The upstream did not report how the batch ended."),
      504,
      true,
    );
  }

  /** The longest that the request of a creation takes. */
  get #createMs(): number {
    return this.#adapter.frame === undefined ? shortMs : clocks.totalMs;
  }

  #path(): string {
    const lane = lanesOf(this.#kind, this.#provider).find(({ endpoint }) => endpoint === this.#batch.endpoint);
    return `/v1${lane?.path ?? ""}`;
  }

  async #send(draft: OutboundDraft, body: OutboundBody | null, totalMs = clocks.totalMs): Promise<VendorAnswer> {
    const { providerClient } = this.#dependencies;
    await providerClient.authorize(this.#kind, draft, this.#signal);
    const sent = await providerClient.send(draft, { ...clocks, totalMs }, this.#signal, body);
    return this.#read(
      await providerClient.read(draft.provider, sent, { bytesMax: bounds.replyBytesMax, limitMs: pieceMs }),
    );
  }

  async #ask(draft: OutboundDraft): Promise<VendorAnswer> {
    return this.#read(await this.#dependencies.providerClient.ask(this.#kind, draft, clocks, this.#signal));
  }

  #read(answer: Awaited<ReturnType<RunDependencies["providerClient"]["read"]>>): VendorAnswer {
    const { good, status, headers, body } = answer;
    return { good, status, headers, body, failure: good ? null : this.#kind.classify(answer) };
  }
}

interface VendorAnswer {
  readonly good: boolean;
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: Uint8Array;
  readonly failure: Failure | null;
}

function framed(
  head: string,
  tail: string,
  rows: () => Promise<ReadableStream<Uint8Array> | null>,
): ReadableStream<Uint8Array> {
  const pieces = (async function* (): AsyncGenerator<Uint8Array, undefined, undefined> {
    yield Buffer.from(head);
    const stream = await rows();
    if (stream === null) throw new Error("the rows of the batch are missing");
    for await (const piece of stream) yield piece;
    yield Buffer.from(tail);
    return undefined;
  })();
  return pulledStream(
    async () => (await pieces.next()).value ?? null,
    () => void pieces.return(undefined),
  );
}
