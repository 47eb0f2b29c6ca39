/** How long a test waits for what must come. A machine that is busy with other work gets there late, and that is no fault. */
export const patienceMs = 100_000;

/** Asking takes the processor from what is waited for: the longer the wait, the longer the rest between two questions. */
const shareOfWait = 0.125;
const restMsMax = 50;

type Missing = null | undefined | false;

/** Waits until `probe` gives anything but null, undefined and false, and resolves to it. */
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

/** Rejects when `work` takes longer than two steps of it may: a step without a limit of its own hangs. */
export async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`Not done within ${2 * patienceMs} ms`)), 2 * patienceMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const looksAtRest = 20;

/** Waits until a count has come to rest: it is the same at many looks in a row. Resolves to it. */
export async function atRest(count: () => Promise<number> | number): Promise<number> {
  let before = Number.NaN;
  let same = 0;
  return (
    await until(async () => {
      const now = await count();
      same = now === before ? same + 1 : 0;
      before = now;
      await Bun.sleep(restMsMax);
      return same >= looksAtRest ? { now } : null;
    })
  ).now;
}
