import { readFileSync } from "node:fs";

/**
 * A machine whose clock runs fast, so that leases of minutes run out within seconds. Preloaded before a program, which
 * knows nothing of it: its time of day, its monotonic clock and its timers all go by the file that FAST_CLOCK names.
 * Programs that read the same file live in the same time, also when they are started again.
 */
interface Pace {
  /** Unix milliseconds of the real clock at which both clocks show the same. */
  readonly from: number;
  /** Fast milliseconds in a real one. */
  readonly times: number;
  /** A leap: what the fast clock shows beyond that. */
  readonly aheadMs: number;
}

const file = process.env["FAST_CLOCK"];
if (file !== undefined) {
  const { from, times, aheadMs }: Pace = JSON.parse(readFileSync(file, "utf8"));
  const realNow = Date.now.bind(Date);
  const realMonotonic = performance.now.bind(performance);
  const realTimeout = setTimeout;
  Date.now = () => Math.floor(from + (realNow() - from) * times + aheadMs);
  performance.now = () => realMonotonic() * times;
  Reflect.set(globalThis, "setTimeout", (act: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
    realTimeout(act, ms / times, ...given),
  );
}
