import type { Clock } from "#ports/index.ts";
import { type Database, databaseNow } from "./database.ts";

/** How often the database's time is read. */
export const databaseClockMs = 30_000;

/**
 * The database's time of day, so that processes agree on what is due, leased and spent, independent of their own clocks. Read at the start
 * and periodically; monotonic in between.
 */
export async function openDatabaseClock(database: Database, clock: Clock) {
  // Database time minus monotonic time.
  let offsetMs = await readOffset(database, clock);
  let stopped = false;
  let unbook = (): void => undefined;
  const read = async (): Promise<void> => {
    // On failure the offset stays.
    offsetMs = await readOffset(database, clock).catch(() => offsetMs);
    later();
  };
  const later = (): void => {
    if (!stopped) unbook = clock.after(databaseClockMs, () => void read());
  };
  later();
  const now = (): number => Math.floor(clock.monotonic() + offsetMs);
  return {
    now,
    monotonic: () => clock.monotonic(),
    after: (delayMs: number, act: () => void) => clock.after(delayMs, act),
    /** How far this machine's clock was ahead of the database's, milliseconds. */
    get aheadMs(): number {
      return clock.now() - now();
    },
    stop(): void {
      stopped = true;
      unbook();
    },
  };
}

/** The faster the answer, the more exact the offset. Uses the first fast answer, else the fastest of a few. */
async function readOffset(database: Database, clock: Clock): Promise<number> {
  let best = { tookMs: Number.POSITIVE_INFINITY, offsetMs: 0 };
  for (let asking = 0; asking < askings; asking++) {
    const requestedMs = clock.monotonic();
    const row = await database.reading.selectNoFrom(databaseNow(database).as("now")).executeTakeFirstOrThrow();
    const tookMs = clock.monotonic() - requestedMs;
    if (tookMs < best.tookMs) best = { tookMs, offsetMs: row.now - (requestedMs + tookMs / 2) };
    if (tookMs <= quickMs) break;
  }
  return best.offsetMs;
}

const askings = 3;
const quickMs = 5;
