import { Failure } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

/** Waits. Throws client_closed as soon as `signal` ends the wait. */
export function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal.aborted) {
    reject(ended());
    return promise;
  }
  const end = (): void => {
    untick();
    reject(ended());
  };
  const untick = clock.after(ms, () => {
    signal.removeEventListener("abort", end);
    resolve();
  });
  signal.addEventListener("abort", end, { once: true });
  return promise;
}

function ended(): Failure {
  return new Failure("client_closed", "The wait was ended.");
}
