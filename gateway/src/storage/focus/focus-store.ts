import type { Clock, FocusStore } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import type { Database } from "../database/database.ts";
import { type DatabasePlace, threadPlace } from "../database/database-place.ts";
import { prunedBefore } from "../ledger/ledger-prune.ts";
import { type CloseFocusDay, closeFocusDay } from "./close-day.ts";
import { closedFocusDays, findFocusDay, firstFocusDay, focusPart } from "./focus-days.ts";

/** Closes a day. Rejects with a Failure or an error. */
type CloseDay = (order: CloseFocusDay) => Promise<void>;

interface FocusStoreOptions {
  readonly database: Database;
  readonly clock: Pick<Clock, "now">;
  /** An id that was never used before. */
  readonly newRun: () => string;
  /** Left out: in this thread. */
  readonly closeDay?: CloseDay;
}

export function createFocusStore({ database, clock, newRun, closeDay }: FocusStoreOptions): FocusStore {
  const close = closeDay ?? (async (order) => void (await closeFocusDay(database, order)));
  return {
    firstDay: () => firstFocusDay(database),
    closed: (from, to) => closedFocusDays(database, from, to),
    deletedBefore: () => prunedBefore(database.kysely),
    async close(day, catalogue) {
      const closed = await findFocusDay(database, day);
      if (closed !== null) return closed;
      await close({ day, catalogue, now: clock.now(), run: newRun() });
      const made = await findFocusDay(database, day);
      if (made === null) throw new Error("a day was not closed");
      return made;
    },
    part: (day, after, workspaceId) => focusPart(database, day, after, workspaceId),
  };
}

/** Time limit for closing one day. */
const closeMs = 3_600_000;

/** Closes days one after the other, in a thread with its own connection. It starts on demand, and ends when it has nothing to do. */
export function createDayCloser(place: DatabasePlace, clock: Pick<Clock, "after">) {
  const thread = new OrderThread<CloseFocusDay, CloseReply>({
    entry: new URL("./focus-worker.ts", import.meta.url),
    name: "FOCUS export",
    data: threadPlace(place),
    onDeath: () => {},
  });
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const run = async (order: CloseFocusDay): Promise<void> => {
    const unbook = clock.after(closeMs, () => void thread.end());
    const answer = await thread.run(order).finally(unbook);
    if (waiting === 1) await thread.end();
    if ("failed" in answer) throw new Error(answer.failed);
  };
  return {
    close(order: CloseFocusDay): Promise<void> {
      waiting++;
      const closing = last.then(() => run(order)).finally(() => waiting--);
      last = closing.catch(() => undefined);
      return closing;
    },
    stop: (): Promise<void> => thread.end(),
  };
}

export interface CloseReply {
  readonly day: number;
}
