import { bounds, type CallSignal, type Failure, oncePerObject } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { clientClosed, timedOut, type WaitName } from "./send-failure.ts";

/**
 * One timer for all exchanges of a clock, set for the earliest deadline. Deadlines mostly move out (with every piece of a body) or
 * disappear, so the timer may fire early; it then checks all exchanges and is set again.
 */
class Deadlines {
  readonly #clock: Clock;
  readonly #exchanges = new Set<Exchange>();
  #armedMs = Number.POSITIVE_INFINITY;
  #disarm: (() => void) | null = null;
  /**
   * The timer was late: the process was blocked, and bytes from upstreams are unread. They are read before a timeout counts. Only
   * once, so that a process that never keeps up still times out.
   */
  #wasBlocked = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(exchange: Exchange, dueMs: number, nowMs: number): void {
    this.#exchanges.add(exchange);
    if (dueMs < this.#armedMs) this.#arm(dueMs, nowMs);
  }

  forget(exchange: Exchange): void {
    if (!this.#exchanges.delete(exchange) || this.#exchanges.size > 0) return;
    this.#wasBlocked = false;
    this.#stop();
  }

  #arm(dueMs: number, nowMs: number): void {
    this.#stop();
    this.#armedMs = dueMs;
    // Timers may fire a fraction of a millisecond early. Rounding up avoids a loop of early timers.
    this.#disarm = this.#clock.after(Math.max(0, Math.ceil(dueMs - nowMs)), this.#check);
  }

  #stop(): void {
    this.#disarm?.();
    this.#disarm = null;
    this.#armedMs = Number.POSITIVE_INFINITY;
  }

  readonly #check = (): void => {
    const nowMs = this.#clock.monotonic();
    const lateMs = nowMs - this.#armedMs;
    this.#disarm = null;
    this.#armedMs = Number.POSITIVE_INFINITY;
    this.#wasBlocked = lateMs > bounds.timerLateMs && !this.#wasBlocked;
    if (this.#wasBlocked) {
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

/** One request and its answer, which a timeout, the caller or a failure may end. */
export class Exchange {
  /** Why the exchange ended; null: it has not, or it succeeded. */
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
    caller.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Starts a wait of at most `limitMs`, within the total. Returns the monotonic time. */
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

  /** Ends the wait. The total timeout continues. */
  pause(): void {
    this.#wait = "total";
    this.#waitMs = this.#totalMs;
    this.dueMs = this.#totalDueMs;
  }

  /** Sets what to do when it fails, in place of an earlier call. */
  onFail(act: () => void): void {
    this.#onFail = act;
  }

  /** Waits for work that cannot be aborted. `late` gets the result if the exchange has failed meanwhile. */
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
    this.#caller.removeEventListener("abort", this.#onAbort);
  }

  /** Ends the exchange with a failure. Only the first one counts. */
  fail(failure: Failure): void {
    if (this.#over) return;
    this.failure = failure;
    this.end();
    this.#onFail?.();
  }

  /** The deadline has passed. */
  expire(): void {
    this.fail(timedOut(this.#wait, this.#waitMs));
  }

  readonly #onAbort = (): void => this.fail(clientClosed());
}
