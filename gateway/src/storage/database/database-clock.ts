import type { Clock } from "#ports/index.ts";
import { type Database, databaseNow } from "./database.ts";

/** How often a process asks the database for the time. */
export const databaseClockMs = 30_000;

/**
 * The time of day of the database, so that processes on several machines agree on what is due, leased and spent in which period
 * however their own clocks are set. It is asked now and then, at first here; in between it goes on as time passes.
 */
export async function openDatabaseClock(database: Database, clock: Clock) {
  // The database's time minus the monotonic one.
  let offsetMs = await readOffset(database, clock);
  let stopped = false;
  let unbook = (): void => undefined;
  const read = async (): Promise<void> => {
    // A database that does not answer says nothing new; what is known goes on.
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
    /** How far this machine's clock was ahead of the database's when it was asked last; milliseconds. */
    get aheadMs(): number {
      return clock.now() - now();
    },
    stop(): void {
      stopped = true;
      unbook();
    },
  };
}

/**
 * The answer is from some moment between question and answer: the quicker it came, the more exact it is. One that was quick is enough;
 * else the quickest of a few counts.
 */
async function readOffset(database: Database, clock: Clock): Promise<number> {
  let best = { tookMs: Number.POSITIVE_INFINITY, offsetMs: 0 };
  for (let asking = 0; asking < askings; asking++) {
    const askedMs = clock.monotonic();
    const row = await database.reading.selectNoFrom(databaseNow(database).as("now")).executeTakeFirstOrThrow();
    const tookMs = clock.monotonic() - askedMs;
    if (tookMs < best.tookMs) best = { tookMs, offsetMs: row.now - (askedMs + tookMs / 2) };
    if (tookMs <= quickMs) break;
  }
  return best.offsetMs;
}

const askings = 3;
const quickMs = 5;
