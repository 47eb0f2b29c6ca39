import { bounds, sleep } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** Long work for the console is done in slices, so that calls of models never wait for it. */
export class TimeSlice {
  readonly #clock: Clock;
  #endMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endMs = clock.monotonic() + bounds.consoleSliceMs;
  }

  get over(): boolean {
    return this.#clock.monotonic() >= this.#endMs;
  }

  /** Lets everything else go on that waits, then begins the next slice. */
  async rest(): Promise<void> {
    await sleep(this.#clock, 0, null);
    this.#endMs = this.#clock.monotonic() + bounds.consoleSliceMs;
  }
}
