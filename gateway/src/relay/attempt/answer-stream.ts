import { asFailure, type BodySink, bounds, Failure, type HeldMemory, type LiveBody } from "#core/index.ts";
import type { AttemptEnd } from "#ledger/index.ts";
import type { OutboundAnswer, PieceListener } from "#ports/index.ts";
import type { Dialect, StreamTap } from "#protocols/index.ts";
import type { Call, RelayDependencies } from "../call.ts";
import type { AttemptEntry } from "./attempt-entry.ts";
import { type PieceQueue, readTail } from "./piece-queue.ts";

export interface AnswerStreamOptions {
  readonly dependencies: Pick<RelayDependencies, "clock" | "live">;
  readonly call: Pick<Call, "requestId" | "streamEnd"> & { readonly protocol: { readonly dialect: Dialect } };
  /** `finish` or `breakOff` is called once. */
  readonly entry: Pick<AttemptEntry, "progress" | "finish" | "breakOff" | "redactor">;
  /** Ended once, after the entry. */
  readonly tally: { end(): void };
  /** Without its headers, to free their memory. */
  readonly answer: Pick<OutboundAnswer, "status" | "body">;
  readonly tap: StreamTap;
  /** Pieces that came before the stream began. */
  readonly waiting: PieceQueue;
  /** A read in progress. */
  readonly pending: Promise<Uint8Array | null> | null;
  readonly place: HeldMemory;
  readonly idleMs: number;
  /** Turns an error that the tap found into the caller's. */
  readonly inStream: (failure: Failure) => Failure;
  /** The rest is read for its usage when the caller goes away. */
  readonly drains: boolean;
}

const encoder = new TextEncoder();
const nothing = (): void => {};
/** Before an error's bare form: clients join pieces that arrive together, and expect that form in a separate piece. */
const bareErrorGapMs = 50;

type EndedOutcome = AttemptEnd["outcome"];

/**
 * A stream to the caller: whole events as the tap returns them, one read upstream for each pull. Settled once, before its last
 * bytes leave. An upstream that breaks off becomes an error event, never a clean end.
 *
 * open      reads when the caller pulls.
 * draining  the caller has gone, and the rest is read for its usage.
 * over      settled; the caller pulls what is still waiting.
 * broken    the caller's connection ends with an error.
 */
export class AnswerStream implements LiveBody, PieceListener {
  readonly #options: AnswerStreamOptions;
  readonly #waiting: PieceQueue;
  #isFirst = true;
  #pending: Promise<Uint8Array | null> | null;
  /** null: the caller has not pulled yet, or is gone. */
  #sink: BodySink | null = null;
  #answered: () => void = nothing;
  #reading = false;
  #over = false;
  #lastWriteMs: number;
  /** As counted against the memory. */
  #weight = 0;
  /** A second form of the error, sent last. */
  #bareError: Uint8Array | null = null;
  /** The caller's connection ends with it: the bytes are of no dialect, or the caller has stopped reading. */
  #broken: Failure | null = null;
  #stopTimer: () => void = nothing;

  constructor(options: AnswerStreamOptions) {
    this.#options = options;
    this.#waiting = options.waiting;
    this.#pending = options.pending;
    this.#lastWriteMs = options.dependencies.clock.monotonic();
  }

  open(): LiveBody {
    this.#options.dependencies.live.add(this);
    this.#watch(bounds.keepAliveMs);
    return this;
  }

  /** Ends it with an error in the caller's dialect. */
  abort(failure: Failure): void {
    if (this.#over) return;
    this.#stopReading();
    this.#breakOff("interrupted", failure);
    this.#pulled();
  }

  pull(sink: BodySink, answered: () => void): void {
    if (this.#broken !== null) {
      sink.error(this.#broken);
      answered();
      return;
    }
    if (this.#over) {
      this.#sendRest(sink, answered);
      return;
    }
    this.#sink = sink;
    this.#answered = answered;
    try {
      this.#weigh();
      this.#forward();
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  cancel(why: Failure = new Failure("client_closed", "The caller went away.")): void {
    if (this.#over) {
      this.#stopTimer();
      return;
    }
    if (this.#options.drains) {
      // If the caller had stopped reading, the stream is draining already.
      if (this.#broken === null) this.#drain(why);
      return;
    }
    this.#stopReading();
    this.#breakOff("cancelled", why);
  }

  /** Called by the upstream's body, like `reject`. */
  resolve(piece: Uint8Array | null): void {
    if (!this.#reading) return;
    this.#reading = false;
    if (this.#over) return;
    try {
      if (piece === null) this.#endOfBytes();
      else if (!this.#pass(piece)) {
        this.#forward();
        return;
      }
      this.#pulled();
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  reject(thrown: unknown): void {
    if (!this.#reading) return;
    this.#reading = false;
    if (!this.#over) this.#failed(thrown);
  }

  /** Passes on what has arrived, else waits. */
  #forward(): void {
    const { body } = this.#options.answer;
    const hasPieces = this.#isFirst || this.#waiting.bytes > 0;
    this.#isFirst = false;
    if (hasPieces && this.#deliver()) {
      this.#pulled();
      return;
    }
    const pending = this.#pending;
    this.#pending = null;
    let piece = pending === null ? (body.here?.() ?? null) : null;
    for (; piece !== null; piece = body.here?.() ?? null) {
      if (!this.#pass(piece)) continue;
      this.#pulled();
      return;
    }
    this.#reading = true;
    if (pending === null && body.next !== undefined) {
      body.next("idle", this.#options.idleMs, this);
      return;
    }
    (pending ?? body.read("idle", this.#options.idleMs)).then(
      (piece) => this.resolve(piece),
      (thrown: unknown) => this.reject(thrown),
    );
  }

  #pass(piece: Uint8Array): boolean {
    const { tap } = this.#options;
    this.#waiting.add(tap.push(piece), tap);
    this.#weigh();
    return this.#deliver();
  }

  #weigh(): void {
    const { place, tap } = this.#options;
    const weight = this.#waiting.bytes + (tap.held ?? 0);
    if (weight !== this.#weight) place.hold(weight);
    this.#weight = weight;
  }

  #pulled(): void {
    const answered = this.#answered;
    this.#answered = nothing;
    answered();
  }

  #failed(thrown: unknown): void {
    this.#stopReading();
    const failure = asFailure(thrown);
    // Settling failed.
    if (this.#over) this.#sink?.error(thrown);
    else this.#breakOff(failure.code === "client_closed" ? "cancelled" : "failed", failure);
    this.#pulled();
  }

  #stopReading(): void {
    this.#reading = false;
    this.#options.answer.body.cancel();
  }

  /** True when the pull is answered: something was written, or the stream is over. */
  #deliver(): boolean {
    const { tap, answer, entry, dependencies } = this.#options;
    const now = dependencies.clock.monotonic();
    const end = entry.progress(tap, now);
    if (tap.ended) {
      this.#settleEnd();
      this.#endWith(this.#upstreamFailure(), this.#sendNext());
      void readTail(answer);
      return true;
    }
    if (end !== null) {
      this.#sendNext();
      this.#stopReading();
      this.#breakOff("interrupted", end);
      return true;
    }
    if (!this.#sendNext()) return false;
    this.#lastWriteMs = now;
    return true;
  }

  #sendNext(): boolean {
    const part = this.#waiting.take();
    if (part !== null) this.#sink?.enqueue(part);
    return part !== null;
  }

  /** The bytes ended cleanly; the tap checks whether the stream did. */
  #endOfBytes(): void {
    const { tap } = this.#options;
    const isSent = isErrorSent(tap);
    if (!isSent && (tap.errorUnreadable === true || !tap.complete() || tap.failure !== null)) {
      // After the last whole event there may be an error that was not passed on.
      this.#breakOff("failed", this.#upstreamFailure() ?? truncated(), false);
      return;
    }
    if (tap.failure === null) this.#waiting.add(tap.rest(), tap);
    this.#settleEnd();
    this.#endWith(this.#upstreamFailure(), this.#sendNext());
  }

  #upstreamFailure(): Failure | null {
    const { tap, entry, inStream } = this.#options;
    return tap.failure && entry.redactor.failure(inStream(tap.failure));
  }

  /** `failure`: of the error event that is waiting or was sent. `isAnswered`: this pull has got a piece already. */
  #endWith(failure: Failure | null, isAnswered: boolean): void {
    const { requestId, protocol } = this.#options.call;
    const bare = failure === null ? undefined : protocol.dialect.renderBareError?.(failure, requestId);
    if (bare !== undefined) this.#bareError = encoder.encode(bare);
    const sink = this.#sink;
    if (sink === null || (isAnswered && !this.#isSent)) return;
    const answered = this.#answered;
    this.#answered = nothing;
    this.#sendRest(sink, answered);
  }

  get #isSent(): boolean {
    return this.#waiting.bytes === 0 && this.#bareError === null;
  }

  /** Sends the next piece of a settled stream, and closes it with the last one. */
  #sendRest(sink: BodySink, answered: () => void): void {
    const part = this.#waiting.take();
    const bare = this.#bareError;
    if (part === null && bare !== null) {
      this.#stopTimer = this.#options.dependencies.clock.after(bareErrorGapMs, () => {
        sink.enqueue(bare);
        sink.close();
        answered();
      });
      return;
    }
    if (part !== null) sink.enqueue(part);
    if (this.#isSent) sink.close();
    answered();
  }

  #settleEnd(): void {
    const { tap, entry, answer } = this.#options;
    this.#settle(() => {
      if (tap.failure === null) entry.finish(answer.status, tap);
      else entry.breakOff("failed", entry.redactor.failure(tap.failure));
    });
  }

  /**
   * Settles, and sends the caller an error event unless the upstream has. An error in the callback of a socket or a timer would not be
   * caught: the caller's connection ends with it instead.
   */
  #breakOff(outcome: EndedOutcome, thrown: Failure, isSent: boolean = isErrorSent(this.#options.tap)): void {
    const { tap, entry } = this.#options;
    try {
      const failure = outcome === "cancelled" ? thrown : entry.redactor.failure(thrown);
      this.#settle(() => entry.breakOff(outcome, failure));
      if (outcome === "cancelled") return;
      if (tap.isRaw === true) throw failure;
      if (!isSent) this.#waiting.add(this.#errorEvent(failure), tap);
      const isRead = this.#sink !== null && this.#waiting.bytes > 0;
      while (this.#sink !== null && this.#sendNext());
      this.#endWith(failure, isRead);
    } catch (error) {
      this.#broken = asFailure(error);
      this.#sink?.error(error);
    }
  }

  #errorEvent(failure: Failure): Uint8Array {
    const { tap, call } = this.#options;
    try {
      const event = tap.breakOff?.(failure);
      if (event !== undefined) return event;
    } catch {
      // The writer itself may have failed.
    }
    return encoder.encode(call.protocol.dialect.renderStreamError(failure, call.requestId));
  }

  #drain(why: Failure): void {
    this.#sink = null;
    this.#waiting.clear();
    void this.#readRest(why);
  }

  /** Reads the rest for its usage: the provider charges for it anyway. */
  async #readRest(why: Failure): Promise<void> {
    const { answer, tap, entry, idleMs, dependencies } = this.#options;
    const isGone = why.code === "client_closed";
    const gone = isGone ? new Failure("client_closed", `${why.message} The upstream was read to its end.`) : why;
    try {
      while (!tap.ended && !this.#over) {
        const pending = this.#pending ?? answer.body.read("idle", idleMs);
        this.#pending = null;
        const chunk = await pending;
        if (chunk === null) break;
        tap.push(chunk);
        this.#weigh();
        if (entry.progress(tap, dependencies.clock.monotonic()) === null) continue;
        answer.body.cancel();
        break;
      }
    } catch {
      answer.body.cancel();
    }
    if (this.#over) return;
    if (tap.ended) void readTail(answer);
    this.#breakOff("cancelled", gone);
  }

  /** `streamEnd` comes last: it reports the settled attempt. */
  #settle(entry: () => void): void {
    const { place, dependencies, tally, call } = this.#options;
    this.#over = true;
    this.#stopTimer();
    place.release();
    dependencies.live.delete(this);
    try {
      entry();
    } finally {
      try {
        tally.end();
      } finally {
        call.streamEnd();
      }
    }
  }

  /** One timer: sends a comment in long silence, and ends a stream that the caller has stopped reading. */
  #watch(delayMs: number): void {
    const { clock } = this.#options.dependencies;
    this.#stopTimer = clock.after(delayMs, () => {
      if (this.#over) return;
      const silentMs = clock.monotonic() - this.#lastWriteMs;
      if (!this.#reading && this.#sink !== null && silentMs >= bounds.stalledReaderMs) {
        const failure = new Failure("client_closed", "The caller stopped reading.");
        this.cancel(failure);
        this.#broken ??= failure;
        return;
      }
      let nextMs = bounds.keepAliveMs - silentMs;
      if (nextMs <= 0) {
        const silent = !this.#reading || this.#options.tap.isRaw === true;
        if (!silent) this.#sink?.enqueue(encoder.encode(this.#options.call.protocol.dialect.keepAlive));
        if (this.#reading) this.#lastWriteMs = clock.monotonic();
        nextMs = bounds.keepAliveMs;
      }
      this.#watch(nextMs);
    });
  }
}

/** The upstream's own error event was passed on, and its caller can read it. */
function isErrorSent(tap: StreamTap): boolean {
  return tap.failure !== null && tap.errorUnreadable !== true;
}

function truncated(): Failure {
  return new Failure("upstream_truncated", "The upstream's stream ended before it was complete.", { unhealthy: true });
}
