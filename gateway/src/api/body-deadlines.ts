import { bounds, Failure } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

interface Waiting {
  readonly dueMs: number;
  readonly reject: (failure: Failure) => void;
}

/**
 * The time limit of bodies that are being read. One timer looks after all of them, once a second while there are any:
 * almost every body is here at once, and none of those should cost a timer of its own.
 */
export class BodyDeadlines {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #looking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `reading`, or request_timeout when it takes longer than bounds.requestBodyTotalMs. */
  async within<T>(reading: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waiting: Waiting = { dueMs: this.#clock.monotonic() + bounds.requestBodyTotalMs, reject };
    this.#waiting.add(waiting);
    if (!this.#looking) this.#lookLater();
    reading.then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  #lookLater(): void {
    this.#looking = true;
    this.#clock.after(lookMs, () => {
      this.#looking = false;
      const nowMs = this.#clock.monotonic();
      for (const waiting of this.#waiting) if (waiting.dueMs <= nowMs) waiting.reject(tooSlow());
      if (this.#waiting.size > 0) this.#lookLater();
    });
  }
}

const lookMs = 1_000;

function tooSlow(): Failure {
  return new Failure("request_timeout", `The body did not arrive within ${bounds.requestBodyTotalMs / 1_000} seconds.`);
}
