import type { Outlet } from "./outlet.ts";

/** Pauses that end early when the caller disconnects. */
export interface Pacer {
  pause(ms: number): Promise<void>;
}

export function createPacer(outlet: Outlet, onGone: () => void): Pacer {
  let wake: (() => void) | null = null;
  outlet.onGone(() => {
    onGone();
    wake?.();
  });
  return {
    pause(ms) {
      if (outlet.closed) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(done, ms);
        function done(): void {
          clearTimeout(timer);
          wake = null;
          resolve();
        }
        wake = done;
      });
    },
  };
}
