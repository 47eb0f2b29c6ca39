import type { Clock } from "#ports/index.ts";

/** Rejects when `answer` does not come in time. */
export function within<Result>(clock: Clock, ms: number, answer: Promise<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const stop = clock.after(ms, () => reject(new Error(`There was no answer within ${ms} ms.`)));
  answer.then(resolve, reject).finally(stop);
  return promise;
}
