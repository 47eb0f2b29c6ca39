import type { Clock } from "#ports/index.ts";

/** A wait that may be ended early, also before it begins. */
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

  end(): void {
    this.#ended = true;
    this.#wake();
  }
}
