/** How long a test waits for what must come. A machine that is busy with other work gets there late, and that is no fault. */
export const patienceMs = 100_000;

const restMsMax = 50;

type Missing = null | undefined | false;

/** Waits until `probe` gives anything but null, undefined and false, and resolves to it. */
export async function until<Found>(probe: () => Promise<Found | Missing> | Found | Missing): Promise<Found> {
  const endMs = performance.now() + patienceMs;
  for (let restMs = 1; ; restMs = Math.min(restMs * 2, restMsMax)) {
    const found = await probe();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > endMs) throw new Error(`Not within ${patienceMs} ms: ${probe}`);
    await Bun.sleep(restMs);
  }
}
