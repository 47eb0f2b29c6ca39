import { bounds, type CallSignal, type Failure } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { clientClosed, timedOut, type WaitName } from "./send-failure.ts";

/**
 * The life of one request and its answer: who may end it, and why it ended. One timer serves all its clocks. It is armed
 * for the nearest deadline and, when deadlines move out (as they do with every piece of a body), simply fires early, looks,
 * and is armed again: a stream of a thousand pieces costs no thousand timers.
 */
export class Exchange {
  /** Set once, when the exchange is ended by anything but its own good end. */
  failure: Failure | null = null;
  readonly #clock: Clock;
  readonly #caller: CallSignal;
  readonly #totalMs: number;
  readonly #totalDueMs: number;
  #wait: WaitName = "total";
  #waitMs = 0;
  #dueMs: number;
  #armedMs = Number.POSITIVE_INFINITY;
  #disarm: (() => void) | null = null;
  #onFail: (() => void) | null = null;
  /**
   * The timer came late: this process stood still, and what the upstream sent meanwhile has not been read. It is read before
   * anybody is judged; once, so that a process that never keeps up ends its waits all the same.
   */
  #stoodStill = false;
  #over = false;

  constructor(clock: Clock, caller: CallSignal, totalMs: number) {
    this.#clock = clock;
    this.#caller = caller;
    this.#totalMs = totalMs;
    this.#totalDueMs = clock.monotonic() + totalMs;
    this.#dueMs = this.#totalDueMs;
    caller.addEventListener("abort", this.#callerLeft, { once: true });
  }

  /** From now on `wait` is what is waited for, at most `limitMs`, and never beyond the total. Gives the time, monotonic. */
  begin(wait: WaitName, limitMs: number): number {
    const nowMs = this.#clock.monotonic();
    const dueMs = nowMs + limitMs;
    const total = dueMs >= this.#totalDueMs;
    this.#wait = total ? "total" : wait;
    this.#waitMs = total ? this.#totalMs : limitMs;
    this.#dueMs = total ? this.#totalDueMs : dueMs;
    this.#arm(this.#dueMs, nowMs);
    return nowMs;
  }

  /** Nothing is waited for; only the total goes on. */
  pause(): void {
    this.#wait = "total";
    this.#waitMs = this.#totalMs;
    this.#dueMs = this.#totalDueMs;
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
    this.#disarm?.();
    this.#disarm = null;
    this.#caller.removeEventListener("abort", this.#callerLeft);
  }

  /** The bad end. Only the first counts. */
  fail(failure: Failure): void {
    if (this.#over) return;
    this.failure = failure;
    this.end();
    this.#onFail?.();
  }

  readonly #callerLeft = (): void => this.fail(clientClosed());

  #arm(dueMs: number, nowMs: number): void {
    if (this.#over || this.#armedMs <= dueMs) return;
    this.#disarm?.();
    this.#armedMs = dueMs;
    // Timers may fire a fraction early; a whole millisecond more keeps that from spinning.
    this.#disarm = this.#clock.after(Math.max(0, Math.ceil(dueMs - nowMs)), this.#look);
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
    if (nowMs >= this.#dueMs) this.fail(timedOut(this.#wait, this.#waitMs));
    else this.#arm(this.#dueMs, nowMs);
  };
}
