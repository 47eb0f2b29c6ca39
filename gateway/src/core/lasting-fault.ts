/** How often a lasting fault is logged again. */
export const faultTellMs = 10 * 60_000;

export interface FaultOptions {
  readonly clock: { monotonic(): number };
  readonly observer: {
    log(level: "info" | "warn" | "error", message: string, facts?: Readonly<Record<string, unknown>>): void;
  };
  readonly level: "warn" | "error";
  /** Log message when the fault begins, and again while it lasts. */
  readonly fault: string;
  /** Log message at the end; null if only the next failure shows that there was one. */
  readonly over: string | null;
}

/** Logs a repeated failure when it begins, every few minutes while it lasts, and when it ends, instead of once per failure. */
export class LastingFault {
  readonly #options: FaultOptions;
  #sinceMs: number | null = null;
  #toldMs = 0;
  #times = 0;

  constructor(options: FaultOptions) {
    this.#options = options;
  }

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

  /** Call it after each success. */
  succeeded(): void {
    if (this.#sinceMs === null) return;
    const { clock, observer, over } = this.#options;
    if (over !== null)
      observer.log("info", over, { times: this.#times, forMs: Math.round(clock.monotonic() - this.#sinceMs) });
    this.#sinceMs = null;
    this.#times = 0;
  }
}
