import {
  asFailure,
  type BodySink,
  bounds,
  Failure,
  type HeldMemory,
  type LiveBody,
  type Outcome,
  type Redactor,
} from "#core/index.ts";
import type { OutboundAnswer, PieceListener } from "#ports/index.ts";
import type { Dialect, StreamTap } from "#protocols/index.ts";
import type { Call, RelayDependencies } from "../call.ts";
import type { AttemptEntry } from "./attempt-entry.ts";
import { type PieceQueue, readTail, StreamEnd } from "./stream-end.ts";

export interface AnswerStreamOptions {
  readonly dependencies: Pick<RelayDependencies, "clock" | "live">;
  readonly call: Pick<Call, "requestId" | "streamEnd"> & { readonly protocol: { readonly dialect: Dialect } };
  /** `finish` or `breakOff` is called once. */
  readonly entry: Pick<AttemptEntry, "progress" | "finish" | "breakOff">;
  /** Called once, after the entry has ended. */
  readonly over: () => void;
  readonly answer: OutboundAnswer;
  readonly tap: StreamTap;
  /** What came before the stream began. */
  readonly waiting: PieceQueue;
  /** A read that is under way. */
  readonly pending: Promise<Uint8Array | null> | null;
  readonly place: HeldMemory;
  readonly idleMs: number;
  /** Turns an error that the tap found into the caller's. */
  readonly inStream: (told: Failure) => Failure;
  readonly redactor: () => Redactor;
  /** The rest is read for its usage when the caller goes away. */
  readonly drains: boolean;
}

const encoder = new TextEncoder();
const nothing = (): void => {};

/**
 * A stream to the caller: whole events as the tap returns them, one read upstream for each pull. Settled once, before its last
 * bytes leave. An upstream that breaks off becomes an error event, never a clean end.
 */
export class AnswerStream implements LiveBody, PieceListener {
  readonly #options: AnswerStreamOptions;
  /** Whole events that the caller has not pulled yet. */
  readonly #waiting: PieceQueue;
  #isFirst = true;
  #pending: Promise<Uint8Array | null> | null;
  /** null: the caller has not pulled yet, or is gone. */
  #sink: BodySink | null = null;
  #answered: () => void = nothing;
  #reading = false;
  #over = false;
  #lastWriteMs: number;
  #end: StreamEnd | null = null;
  /** The caller's connection breaks with it: bytes of no dialect cannot say an error, and somebody may have stopped reading. */
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
    this.#breakOffSafely("interrupted", failure);
    this.#pulled();
  }

  pull(sink: BodySink, answered: () => void): void {
    if (this.#broken !== null) {
      sink.error(this.#broken);
      answered();
      return;
    }
    if (this.#over) {
      (this.#end ?? new StreamEnd(this.#options.dependencies.clock, this.#waiting, null)).pull(sink, answered);
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
      this.#end?.cancel();
      return;
    }
    if (this.#options.drains) {
      // One that had stopped reading before is being finished already.
      if (this.#broken === null) this.#leaveAlone(why);
      return;
    }
    this.#stopReading();
    this.#breakOffSafely("cancelled", why);
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
    const isKnown = this.#isFirst || this.#waiting.bytes > 0;
    this.#isFirst = false;
    if (isKnown && this.#deliver()) {
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
    place.hold(this.#waiting.bytes + (tap.held ?? 0));
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
    else this.#breakOffSafely(failure.code === "client_closed" ? "cancelled" : "failed", failure);
    this.#pulled();
  }

  #stopReading(): void {
    this.#reading = false;
    this.#options.answer.body.cancel();
  }

  /** True when the pull is answered: something was written, or the stream is over. */
  #deliver(): boolean {
    const { tap, answer, entry } = this.#options;
    const end = entry.progress(tap);
    if (tap.ended) {
      this.#settleEnd();
      this.#endWith(this.#toldFailure(), this.#sendNext());
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
    this.#lastWriteMs = this.#options.dependencies.clock.monotonic();
    return true;
  }

  #sendNext(): boolean {
    const part = this.#waiting.take();
    if (part !== null) this.#sink?.enqueue(part);
    return part !== null;
  }

  /** The bytes ended cleanly; the tap knows whether the stream did. */
  #endOfBytes(): void {
    const { tap } = this.#options;
    const told = isTold(tap);
    if (!told && (tap.errorUnreadable === true || !tap.complete() || tap.failure !== null)) {
      // After the last whole event there may be an error that was not passed on.
      this.#breakOff("failed", this.#toldFailure() ?? truncated(), false);
      return;
    }
    if (tap.failure === null) this.#waiting.add(tap.rest(), tap);
    this.#settleEnd();
    this.#endWith(this.#toldFailure(), this.#sendNext());
  }

  #toldFailure(): Failure | null {
    const { tap, redactor, inStream } = this.#options;
    return tap.failure && redactor().failure(inStream(tap.failure));
  }

  /** `sent`: this pull has been answered already. */
  #endWith(told: Failure | null, sent: boolean): void {
    const { dependencies, call } = this.#options;
    const { requestId, protocol } = call;
    const error = told === null ? null : { dialect: protocol.dialect, requestId, failure: told };
    const sink = this.#sink;
    const end = new StreamEnd(dependencies.clock, this.#waiting, error);
    this.#end = end;
    if (sink === null || (sent && !end.isEmpty)) return;
    if (end.isEmpty) {
      sink.close();
      return;
    }
    const answered = this.#answered;
    this.#answered = nothing;
    end.pull(sink, answered);
  }

  #settleEnd(): void {
    const { tap, entry, answer } = this.#options;
    this.#settle(() => {
      if (tap.failure === null) entry.finish(answer.status, tap);
      else entry.breakOff("failed", this.#options.redactor().failure(tap.failure));
    });
  }

  /** In the callback of a socket or a timer nothing catches an error: the caller's connection breaks instead. */
  #breakOffSafely(outcome: Exclude<Outcome, "rejected">, failure: Failure): void {
    try {
      this.#breakOff(outcome, failure);
    } catch (thrown) {
      this.#broken = asFailure(thrown);
      this.#sink?.error(thrown);
    }
  }

  /** Settles, and sends the caller an error event unless the upstream has. */
  #breakOff(outcome: Exclude<Outcome, "rejected">, thrown: Failure, told: boolean = isTold(this.#options.tap)): void {
    const { tap, entry, redactor } = this.#options;
    const failure = outcome === "cancelled" ? thrown : redactor().failure(thrown);
    this.#settle(() => entry.breakOff(outcome, failure));
    if (outcome === "cancelled") return;
    if (tap.isRaw === true) {
      this.#broken = failure;
      this.#sink?.error(failure);
      return;
    }
    if (!told) this.#waiting.add(this.#lastWords(failure), tap);
    const isRead = this.#sink !== null && this.#waiting.bytes > 0;
    while (this.#sink !== null && this.#sendNext());
    this.#endWith(failure, isRead);
  }

  #lastWords(failure: Failure): Uint8Array {
    const { tap, call } = this.#options;
    try {
      const words = tap.breakOff?.(failure);
      if (words !== undefined) return words;
    } catch {
      // The writer itself may be what failed.
    }
    return encoder.encode(call.protocol.dialect.renderStreamError(failure, call.requestId));
  }

  #leaveAlone(why: Failure): void {
    this.#sink = null;
    this.#waiting.clear();
    void this.#finishAlone(why);
  }

  /** Reads the rest for its usage: the provider charges for it anyway. */
  async #finishAlone(why: Failure): Promise<void> {
    const { answer, tap, entry, idleMs } = this.#options;
    const gone = new Failure("client_closed", `${why.message} The upstream was let finish.`);
    try {
      while (!tap.ended && !this.#over) {
        const pending = this.#pending ?? answer.body.read("idle", idleMs);
        this.#pending = null;
        const chunk = await pending;
        if (chunk === null) break;
        tap.push(chunk);
        this.#weigh();
        const end = entry.progress(tap);
        if (end === null) continue;
        answer.body.cancel();
        break;
      }
    } catch {
      answer.body.cancel();
    }
    if (this.#over) return;
    if (tap.ended) void readTail(answer);
    this.#breakOffSafely("cancelled", gone);
  }

  /** `streamEnd` comes last: it reports the settled attempt. */
  #settle(entry: () => void): void {
    const { place, dependencies, over, call } = this.#options;
    this.#over = true;
    this.#stopTimer();
    place.release();
    dependencies.live.delete(this);
    try {
      entry();
    } finally {
      try {
        over();
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
        this.#broken = new Failure("client_closed", "The caller stopped reading.");
        if (this.#options.drains) this.#leaveAlone(this.#broken);
        else {
          this.#stopReading();
          this.#breakOffSafely("cancelled", this.#broken);
        }
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

function isTold(tap: StreamTap): boolean {
  return tap.failure !== null && tap.errorUnreadable !== true;
}

function truncated(): Failure {
  return new Failure("upstream_truncated", "The upstream's stream ended before it was complete.", { unhealthy: true });
}
