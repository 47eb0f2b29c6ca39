/** How often a fault is logged again while it lasts. */
export const faultTellMs = 10 * 60_000;

/** What a fault is told to and timed by; a Clock and an Observer have more. */
export interface FaultOptions {
  readonly clock: { monotonic(): number };
  readonly observer: {
    log(level: "info" | "warn" | "error", message: string, facts?: Readonly<Record<string, unknown>>): void;
  };
  readonly level: "warn" | "error";
  /** Said when it begins, and at a slow pace as long as it lasts. */
  readonly fault: string;
  /** Said once when it is over; null where only the next failure tells that there was an end. */
  readonly over: string | null;
}

/**
 * A fault of what is tried again and again: told when it begins, every few minutes while it lasts, with how often it failed since,
 * and when it is over. A log of two lines a second hides what else is wrong.
 */
export class LastingFault {
  readonly #options: FaultOptions;
  #sinceMs: number | null = null;
  #toldMs = 0;
  #times = 0;

  constructor(options: FaultOptions) {
    this.#options = options;
  }

  /** It failed. */
  failed(facts: Readonly<Record<string, unknown>>): void {
    const { clock, observer, level, fault } = this.#options;
    const nowMs = clock.monotonic();
    this.#times++;
    if (this.#sinceMs === null) {
      this.#sinceMs = nowMs;
      observer.log(level, fault, facts);
    } else if (nowMs - this.#toldMs >= faultTellMs) {
      observer.log(level, fault, { ...facts, times: this.#times, forMs: Math.round(nowMs - this.#sinceMs) });
    } else return;
    this.#toldMs = nowMs;
  }

  /** It went well; the usual case, and cheap. */
  passed(): void {
    if (this.#sinceMs === null) return;
    const { clock, observer, over } = this.#options;
    if (over !== null)
      observer.log("info", over, { times: this.#times, forMs: Math.round(clock.monotonic() - this.#sinceMs) });
    this.#sinceMs = null;
    this.#times = 0;
  }
}
