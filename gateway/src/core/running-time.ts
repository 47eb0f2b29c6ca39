/** A wait is counted in this many slices, each once however late it ends: while our own event loop stands still nobody is judged. */
export const waitSlices = 4;

/** What a wait is timed by; a Clock has more. */
interface Timers {
  after(ms: number, act: () => void): () => void;
}

/**
 * Calls `act` when this process has waited for `ms` while its own loop ran. The wait is counted in slices, and a slice that ends
 * late counts once: while the loop stands still no answer can be read, so that says nothing of who is to answer. What
 * arrived meanwhile is read before the next slice ends, and what arrived in the last one before `act`: a turn of the loop lies between.
 * Returns how to stop it.
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
