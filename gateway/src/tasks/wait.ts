import { Failure } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** Resolves after `ms`; throws client_closed when the signal comes first. */
export function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const gone = (): void => {
    stop();
    reject(left());
  };
  const stop = clock.after(ms, () => {
    signal.removeEventListener("abort", gone);
    resolve();
  });
  if (signal.aborted) gone();
  else signal.addEventListener("abort", gone, { once: true });
  return promise;
}

/** `pending` where it is done within `ms`, else null. What is waited for goes on. Throws client_closed. */
export async function within<T>(clock: Clock, ms: number, pending: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const late = wait(clock, ms, both).then(
    () => null,
    (thrown: unknown) => {
      if (signal.aborted) throw thrown;
      return null;
    },
  );
  try {
    return await Promise.race([pending, late]);
  } finally {
    over.abort();
  }
}

function left(): Failure {
  return new Failure("client_closed", "The caller went away.");
}
