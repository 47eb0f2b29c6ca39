import type { Clock } from "#ports/index.ts";

/** Waits that may be ended early: the one that runs, or this and all that follow. */
export class Pause {
  readonly #clock: Clock;
  #wake: () => void = () => {};
  #ended = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(ms: number): Promise<void> {
    if (this.#ended) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.#clock.after(ms, resolve);
    this.#wake = () => {
      stop();
      resolve();
    };
    return promise;
  }

  /** Ends the wait that runs, if there is one. */
  interrupt(): void {
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }
}
