import { afterRunningFor, bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** The longest that one question waits while those before it are answered: Redis is slow then, and not away. */
export const redisBehindMs = 5_000;

/** The counter was silent, or behind for longer than anybody waits. */
export class Unanswered extends Error {
  constructor() {
    super("it does not answer in time.");
  }
}

/**
 * How long questions to the shared counter wait. They are answered one after the other, so one that is still to be answered says
 * nothing of a counter that answers those before it: it is behind, and not away. It is away when it has been silent for so long.
 */
export class AnswerWait {
  readonly #clock: Clock;
  readonly #silentMs: number;
  /** Answers that came. */
  #heard = 0;

  constructor(clock: Clock, silentMs: number = bounds.redisAnswerMs) {
    this.#clock = clock;
    this.#silentMs = silentMs;
  }

  /** Rejects when the counter is silent for too long, or the work takes longer than anybody waits. */
  bounded<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const endMs = this.#clock.monotonic() + redisBehindMs;
    let stop = (): void => {};
    const wait = (): void => {
      const heard = this.#heard;
      stop = afterRunningFor(this.#clock, this.#silentMs, () => {
        if (this.#heard !== heard && this.#clock.monotonic() < endMs) wait();
        else reject(new Unanswered());
      });
    };
    wait();
    work.then(resolve, reject).finally(() => stop());
    return promise;
  }

  /** The same for a question: its answer is one that came. */
  async answer<T>(work: Promise<T>): Promise<T> {
    const heard = work.then((answer) => {
      this.#heard++;
      return answer;
    });
    return await this.bounded(heard);
  }
}
