import { Failure } from "./failure.ts";
import type { CallSignal } from "./runtime-types.ts";

/** A wait of `afterRunningFor` is counted in this many slices. */
export const waitSlices = 4;

/** What waits need of the clock port. */
interface Timers {
  after(ms: number, act: () => void): () => void;
}

/** Resolves after `ms`, or as soon as the signal aborts. null: nothing ends it early. */
export function sleep(clock: Timers, ms: number, signal: CallSignal | null): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const stop = clock.after(ms, end);
    signal?.addEventListener("abort", end, { once: true });
    function end(): void {
      stop();
      signal?.removeEventListener("abort", end);
      resolve();
    }
  });
}

/** For after a `sleep` that the caller may have ended. */
export function throwIfGone(signal: CallSignal): void {
  if (signal.aborted) throw new Failure("client_closed", "The caller went away.");
}

/**
 * Settles as `work` does; after `ms`, or when the signal aborts, with what `late` returns or throws. `work` goes on then, and its
 * failure is ignored.
 */
export async function within<Result, Late>(
  clock: Timers,
  ms: number,
  work: Promise<Result>,
  late: () => Late,
  signal: CallSignal | null = null,
): Promise<Result | Late> {
  const { promise, resolve, reject } = Promise.withResolvers<Late>();
  const end = (): void => {
    try {
      resolve(late());
    } catch (thrown) {
      reject(thrown);
    }
  };
  const stop = clock.after(ms, end);
  if (signal?.aborted) end();
  else signal?.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    stop();
    signal?.removeEventListener("abort", end);
  }
}

/** Resolves when `check` is true, at the latest after `ms`. It is called every `everyMs`. */
export async function waitUntil(
  clock: Timers & { monotonic(): number },
  ms: number,
  check: () => boolean,
  everyMs = 20,
): Promise<void> {
  const endMs = clock.monotonic() + ms;
  while (!check() && clock.monotonic() < endMs) await sleep(clock, everyMs, null);
}

/** Does `work` again and again, `ms` after its last end, whether it failed or not. Returns its end, which awaits the work under way. */
export function repeat(clock: Timers, ms: number, work: () => Promise<unknown>): () => Promise<void> {
  let ended = false;
  let cancel = (): void => undefined;
  let working: Promise<unknown> = Promise.resolve();
  const later = (): void => {
    if (ended) return;
    cancel = clock.after(ms, () => {
      working = work()
        .catch(() => undefined)
        .finally(later);
    });
  };
  later();
  return async () => {
    ended = true;
    cancel();
    await working;
  };
}

/** Sleeps, one at a time, that can be ended early: the current one by `wake`, all by `end`. */
export class Sleeper {
  readonly #clock: Timers;
  #wake: () => void = () => {};
  #ended = false;

  constructor(clock: Timers) {
    this.#clock = clock;
  }

  sleep(ms: number): Promise<void> {
    if (this.#ended) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.#clock.after(ms, resolve);
    this.#wake = () => {
      stop();
      resolve();
    };
    return promise;
  }

  wake(): void {
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }
}

/**
 * Calls `act` once this process has waited for `ms` while its own event loop ran. A slice of the wait that ends late counts once:
 * while the loop stands still no answer can be read, so the silence says nothing about the other side. A turn of the loop lies
 * between slices, and before `act`, so that what has arrived is read first. Returns how to stop it.
 */
export function afterRunningFor(clock: Timers, ms: number, act: () => void): () => void {
  let left: number = waitSlices;
  const slice = (): void => {
    left--;
    if (left < 0) stop = clock.after(0, act);
    else stop = clock.after(ms / waitSlices, slice);
  };
  let stop: () => void = () => {};
  slice();
  return () => stop();
}
