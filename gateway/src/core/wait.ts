import { Failure } from "./failure.ts";
import type { CallSignal } from "./runtime-types.ts";

/** Number of slices of a wait of `afterRunningFor`. */
export const waitSlices = 4;

interface Timers {
  after(ms: number, act: () => void): () => void;
}

/** Resolves after `ms`, or when the signal aborts. */
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

/** Call it after a `sleep` that the caller may have aborted. */
export function throwIfGone(signal: CallSignal): void {
  if (signal.aborted) throw new Failure("client_closed", "The caller went away.");
}

/** Settles like `work`, or with the result of `late` after `ms` or an abort. Then `work` continues, and its failure is ignored. */
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

/** Resolves when `check` returns true, at the latest after `ms`. Checks every `everyMs`. */
export async function waitUntil(
  clock: Timers & { monotonic(): number },
  ms: number,
  check: () => boolean,
  everyMs = 20,
): Promise<void> {
  const endMs = clock.monotonic() + ms;
  while (!check() && clock.monotonic() < endMs) await sleep(clock, everyMs, null);
}

/** Repeats `work`, `ms` after its last end, even if it failed. Returns a function that stops it and waits for the current run. */
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

/** One sleep at a time, which `wake` ends early; `end` ends all. */
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
 * Calls `act` after the event loop of this process has run for `ms`. The wait consists of slices; a late one counts once, because a
 * blocked loop reads no answers and the silence is then no sign of a dead peer. The loop gets a turn before `act`, so that
 * arrived data is read first. Returns a function that stops it.
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
