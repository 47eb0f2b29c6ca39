import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

export interface RestOptions {
  readonly clock: Clock;
  /** What this process holds in memory. */
  readonly residentBytes: () => number;
  readonly letGo: () => Promise<void>;
}

export interface Rest {
  /** No call began or ended for a while. */
  begins(): void;
  /** It does not rest while this says that a call is under way. */
  unless(isBusy: () => boolean): void;
  close(): void;
}

/**
 * Lets go of what a load left behind, once for each load: when the process has come to rest, and holds `bounds.restGrowthBytes`
 * more than at its last rest. That costs some 30 ms of the loop and the next calls their warm code, so a process that is called
 * now and then, and does not grow by it, is left alone.
 */
export function letGoAtRest({ clock, residentBytes, letGo }: RestOptions): Rest {
  let least = residentBytes();
  const busy: (() => boolean)[] = [];
  let unbook = (): void => undefined;
  const later = (act: () => void): void => {
    unbook();
    // Meanwhile the threads that rest as well end, and the allocator gives back what is free.
    unbook = clock.after(bounds.restSettleMs, () => {
      if (!busy.some((isBusy) => isBusy())) act();
    });
  };
  const measure = (): void => {
    least = residentBytes();
  };
  return {
    begins: () =>
      later(() => {
        const held = residentBytes();
        if (held < least) least = held;
        if (held - least < bounds.restGrowthBytes) return;
        void letGo().then(() => later(measure));
      }),
    unless: (isBusy) => void busy.push(isBusy),
    close: () => unbook(),
  };
}
