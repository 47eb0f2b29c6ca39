/** How long a test waits before it fails. Long, because a busy machine may be slow. */
export const patienceMs = 100_000;

/** Polling takes processor time from what is waited for, so the pause between two polls grows with the wait. */
const shareOfWait = 0.125;
const restMsMax = 50;

type Missing = null | undefined | false;

/** Waits until `probe` returns something other than null, undefined or false, and resolves to it. */
export async function until<Found>(probe: () => Promise<Found | Missing> | Found | Missing): Promise<Found> {
  const startMs = performance.now();
  for (;;) {
    const found = await probe();
    if (found !== null && found !== undefined && found !== false) return found;
    const waitedMs = performance.now() - startMs;
    if (waitedMs > patienceMs) throw new Error(`Not within ${patienceMs} ms: ${probe}`);
    await Bun.sleep(Math.min(1 + waitedMs * shareOfWait, restMsMax));
  }
}

/** Rejects when `work` takes longer than two waits may take, for steps that would otherwise hang. */
export async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`Not done within ${2 * patienceMs} ms`)), 2 * patienceMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const stableReadings = 20;

/** Waits until a count stays the same for many readings in a row. Resolves to the count. */
export async function untilStable(count: () => Promise<number> | number): Promise<number> {
  let before = Number.NaN;
  let same = 0;
  return (
    await until(async () => {
      const now = await count();
      same = now === before ? same + 1 : 0;
      before = now;
      await Bun.sleep(restMsMax);
      return same >= stableReadings ? { now } : null;
    })
  ).now;
}
