import { afterRunningFor, bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** The longest wait for one response while Redis answers earlier requests: it is slow then, not gone. */
export const redisBehindMs = 5_000;

export class ResponseTimeoutError extends Error {
  constructor() {
    super("it does not respond in time.");
  }
}

/**
 * Timeouts of requests to Redis, which answers them in order. Redis counts as gone when no response at all has arrived for
 * `silentMs`; a single request waits up to `redisBehindMs` while others are answered.
 */
export class ResponseTimeout {
  readonly #clock: Clock;
  readonly #silentMs: number;
  #responses = 0;

  constructor(clock: Clock, silentMs: number = bounds.redisAnswerMs) {
    this.#clock = clock;
    this.#silentMs = silentMs;
  }

  /** Rejects with ResponseTimeoutError. */
  limit<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const endMs = this.#clock.monotonic() + redisBehindMs;
    let stop = (): void => {};
    const wait = (): void => {
      const answered = this.#responses;
      stop = afterRunningFor(this.#clock, this.#silentMs, () => {
        if (this.#responses !== answered && this.#clock.monotonic() < endMs) wait();
        else reject(new ResponseTimeoutError());
      });
    };
    wait();
    work.then(resolve, reject).finally(() => stop());
    return promise;
  }

  /** The same for a request. Its response shows that Redis is alive. */
  async response<T>(work: Promise<T>): Promise<T> {
    const answered = work.then((answer) => {
      this.#responses++;
      return answer;
    });
    return await this.limit(answered);
  }
}
