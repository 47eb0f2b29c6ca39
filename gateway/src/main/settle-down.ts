import type { Clock } from "#ports/index.ts";

/** Resolves when `calm` holds, at the latest after `timeoutMs`. */
export async function settleDown(calm: () => boolean, timeoutMs: number, clock: Clock): Promise<void> {
  const endMs = clock.monotonic() + timeoutMs;
  while (!calm() && clock.monotonic() < endMs) {
    await new Promise<void>((resolve) => void clock.after(20, resolve));
  }
}
