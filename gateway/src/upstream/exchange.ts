import { bounds, type CallSignal, type Failure, oncePerObject } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { clientClosed, timedOut, type WaitName } from "./send-failure.ts";

/**
 * One timer for all exchanges of a clock, armed for the earliest deadline. Deadlines mostly move out (with every piece of a body) or
 * go away, so the timer may fire early; it then looks at all exchanges and is armed again.
 */
class Deadlines {
  readonly #clock: Clock;
  readonly #exchanges = new Set<Exchange>();
  #armedMs = Number.POSITIVE_INFINITY;
  #disarm: (() => void) | null = null;
  /**
   * The timer came late: this process stood still, and what upstreams sent meanwhile has not been read. It is read before anybody is
   * judged; once, so that a process that never keeps up ends its waits all the same.
   */
  #stoodStill = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(exchange: Exchange, dueMs: number, nowMs: number): void {
    this.#exchanges.add(exchange);
    if (dueMs < this.#armedMs) this.#arm(dueMs, nowMs);
  }

  forget(exchange: Exchange): void {
    if (this.#exchanges.delete(exchange) && this.#exchanges.size === 0) this.#stop();
  }

  #arm(dueMs: number, nowMs: number): void {
    this.#stop();
    this.#armedMs = dueMs;
    // Timers may fire a fraction early; a whole millisecond more keeps that from spinning.
    this.#disarm = this.#clock.after(Math.max(0, Math.ceil(dueMs - nowMs)), this.#look);
  }

  #stop(): void {
    this.#disarm?.();
    this.#disarm = null;
    this.#armedMs = Number.POSITIVE_INFINITY;
  }

  readonly #look = (): void => {
    const nowMs = this.#clock.monotonic();
    const lateMs = nowMs - this.#armedMs;
    this.#disarm = null;
    this.#armedMs = Number.POSITIVE_INFINITY;
    this.#stoodStill = lateMs > bounds.timerLateMs && !this.#stoodStill;
    if (this.#stoodStill) {
      this.#arm(nowMs + Math.min(lateMs, bounds.standstillGraceMs), nowMs);
      return;
    }
    let nextMs = Number.POSITIVE_INFINITY;
    for (const exchange of this.#exchanges) {
      if (exchange.dueMs <= nowMs) exchange.expire();
      else nextMs = Math.min(nextMs, exchange.dueMs);
    }
    if (nextMs < this.#armedMs) this.#arm(nextMs, nowMs);
  };
}

const deadlinesOf = oncePerObject((clock: Clock) => new Deadlines(clock));

/** The life of one request and its answer: who may end it, and why it ended. */
export class Exchange {
  /** Set once, when the exchange is ended by anything but its own good end. */
  failure: Failure | null = null;
  /** Monotonic milliseconds. */
  dueMs: number;
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #caller: CallSignal;
  readonly #totalMs: number;
  readonly #totalDueMs: number;
  #wait: WaitName = "total";
  #waitMs = 0;
  #onFail: (() => void) | null = null;
  #over = false;

  constructor(clock: Clock, caller: CallSignal, totalMs: number) {
    this.#clock = clock;
    this.#deadlines = deadlinesOf(clock);
    this.#caller = caller;
    this.#totalMs = totalMs;
    this.#totalDueMs = clock.monotonic() + totalMs;
    this.dueMs = this.#totalDueMs;
    caller.addEventListener("abort", this.#callerLeft, { once: true });
  }

  /** From now on `wait` is what is waited for, at most `limitMs`, and never beyond the total. Gives the time, monotonic. */
  begin(wait: WaitName, limitMs: number): number {
    const nowMs = this.#clock.monotonic();
    const dueMs = nowMs + limitMs;
    const total = dueMs >= this.#totalDueMs;
    this.#wait = total ? "total" : wait;
    this.#waitMs = total ? this.#totalMs : limitMs;
    this.dueMs = total ? this.#totalDueMs : dueMs;
    if (!this.#over) this.#deadlines.watch(this, this.dueMs, nowMs);
    return nowMs;
  }

  /** Nothing is waited for; only the total goes on. */
  pause(): void {
    this.#wait = "total";
    this.#waitMs = this.#totalMs;
    this.dueMs = this.#totalDueMs;
  }

  /** What to do when it fails. One at a time: the last counts. */
  onFail(act: () => void): void {
    this.#onFail = act;
  }

  /** Waits for what cannot be aborted; its result is given to `late` when the exchange has failed meanwhile. */
  race<T>(pending: Promise<T>, late: (value: T) => void = () => {}): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onFail(() => reject(this.failure));
      pending.then((value) => (this.failure === null ? resolve(value) : late(value)), reject);
    });
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadlines.forget(this);
    this.#caller.removeEventListener("abort", this.#callerLeft);
  }

  /** The bad end. Only the first counts. */
  fail(failure: Failure): void {
    if (this.#over) return;
    this.failure = failure;
    this.end();
    this.#onFail?.();
  }

  /** Its deadline has passed. */
  expire(): void {
    this.fail(timedOut(this.#wait, this.#waitMs));
  }

  readonly #callerLeft = (): void => this.fail(clientClosed());
}
