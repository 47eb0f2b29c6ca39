import { bounds, type CallSignal, type Failure } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { clientClosed, timedOut, type WaitName } from "./send-failure.ts";

/**
 * One timer for all exchanges, set for the earliest deadline. Deadlines mostly move out (with every piece of a body) or
 * disappear, so the timer may fire early; it then checks all exchanges and is set again.
 */
export class Deadlines {
  readonly clock: Clock;
  readonly #exchanges: OutboundExchange[] = [];
  #armedMs = Number.POSITIVE_INFINITY;
  #disarm: (() => void) | null = null;
  /**
   * The timer was late: the process was blocked, and bytes from upstreams are unread. They are read before a timeout counts. Only
   * once, so that a process that never keeps up still times out.
   */
  #wasBlocked = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  watch(exchange: OutboundExchange, dueMs: number, nowMs: number): void {
    if (exchange.watchedAt < 0) exchange.watchedAt = this.#exchanges.push(exchange) - 1;
    if (dueMs < this.#armedMs) this.#arm(dueMs, nowMs);
  }

  forget(exchange: OutboundExchange): void {
    const at = exchange.watchedAt;
    const last = at < 0 ? undefined : this.#exchanges.pop();
    if (last === undefined) return;
    exchange.watchedAt = -1;
    if (last !== exchange) {
      this.#exchanges[at] = last;
      last.watchedAt = at;
    }
    if (this.#exchanges.length > 0) return;
    this.#wasBlocked = false;
    this.#stop();
  }

  #arm(dueMs: number, nowMs: number): void {
    this.#stop();
    this.#armedMs = dueMs;
    // Timers may fire a fraction of a millisecond early. Rounding up avoids a loop of early timers.
    this.#disarm = this.clock.after(Math.max(0, Math.ceil(dueMs - nowMs)), this.#check);
  }

  #stop(): void {
    this.#disarm?.();
    this.#disarm = null;
    this.#armedMs = Number.POSITIVE_INFINITY;
  }

  readonly #check = (): void => {
    const nowMs = this.clock.monotonic();
    const lateMs = nowMs - this.#armedMs;
    this.#disarm = null;
    this.#armedMs = Number.POSITIVE_INFINITY;
    this.#wasBlocked = lateMs > bounds.timerLateMs && !this.#wasBlocked;
    if (this.#wasBlocked) {
      this.#arm(nowMs + Math.min(lateMs, bounds.standstillGraceMs), nowMs);
      return;
    }
    let nextMs = Number.POSITIVE_INFINITY;
    // An exchange that expires may end others.
    for (const exchange of [...this.#exchanges]) {
      if (exchange.watchedAt < 0) continue;
      if (exchange.dueMs <= nowMs) exchange.expire();
      else nextMs = Math.min(nextMs, exchange.dueMs);
    }
    if (nextMs < this.#armedMs) this.#arm(nextMs, nowMs);
  };
}

/** Called when an exchange fails. */
interface FailListener {
  onFailure(failure: Failure): void;
}

/** One request and its answer, which a timeout, the caller or a failure may end. */
export class OutboundExchange {
  /** Why the exchange ended; null: it has not, or it succeeded. */
  failure: Failure | null = null;
  /** Monotonic milliseconds. */
  dueMs: number;
  /** Its place among the watched exchanges; -1: none. */
  watchedAt = -1;
  readonly #deadlines: Deadlines;
  readonly #caller: CallSignal;
  readonly #totalMs: number;
  readonly #totalDueMs: number;
  #wait: WaitName = "total";
  #waitMs = 0;
  #onFail: FailListener | null = null;
  #over = false;

  /** `nowMs`: monotonic. */
  constructor(deadlines: Deadlines, caller: CallSignal, totalMs: number, nowMs: number) {
    this.#deadlines = deadlines;
    this.#caller = caller;
    this.#totalMs = totalMs;
    this.#totalDueMs = nowMs + totalMs;
    this.dueMs = this.#totalDueMs;
    caller.addEventListener("abort", this, { once: true });
  }

  /** Starts a wait of at most `limitMs`, within the total. `nowMs`: monotonic. */
  begin(wait: WaitName, limitMs: number, nowMs: number = this.#deadlines.clock.monotonic()): void {
    const dueMs = nowMs + limitMs;
    const total = dueMs >= this.#totalDueMs;
    this.#wait = total ? "total" : wait;
    this.#waitMs = total ? this.#totalMs : limitMs;
    this.dueMs = total ? this.#totalDueMs : dueMs;
    if (!this.#over) this.#deadlines.watch(this, this.dueMs, nowMs);
  }

  /** Ends the wait. The total timeout continues. */
  pause(): void {
    this.#wait = "total";
    this.#waitMs = this.#totalMs;
    this.dueMs = this.#totalDueMs;
  }

  /** Sets whom to call when it fails, in place of an earlier listener. */
  onFail(listener: FailListener): void {
    this.#onFail = listener;
  }

  /** Waits for work that cannot be aborted. `late` gets the result if the exchange has failed meanwhile. */
  race<T>(pending: Promise<T>, late: (value: T) => void = () => {}): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onFail({ onFailure: reject });
      pending.then((value) => (this.failure === null ? resolve(value) : late(value)), reject);
    });
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadlines.forget(this);
    this.#caller.removeEventListener("abort", this);
  }

  /** Ends the exchange with a failure. Only the first one counts. */
  fail(failure: Failure): void {
    if (this.#over) return;
    this.failure = failure;
    this.end();
    this.#onFail?.onFailure(failure);
  }

  /** The deadline has passed. */
  expire(): void {
    this.fail(timedOut(this.#wait, this.#waitMs));
  }

  /** The caller has left. */
  handleEvent(): void {
    this.fail(clientClosed());
  }
}
