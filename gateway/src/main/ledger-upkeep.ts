import { bounds, LastingFault, sleep } from "#core/index.ts";
import type { Clock, Leadership, LedgerStore, Observer } from "#ports/index.ts";
import type { Database } from "#storage/index.ts";

interface LedgerUpkeepOptions {
  readonly ledgerStore: Pick<LedgerStore, "fold" | "makeMonths" | "sumDay">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/** Does it until it is stopped, which resolves when the work at hand has ended. SQLite needs none of it: days are summed by the drain. */
export function keepLedger({ database, leadership, ...options }: LedgerKeeping): () => Promise<void> {
  if (database.flavour.name === "sqlite") return async () => undefined;
  const lead = leadership.lead("ledger", ({ signal }) => ledgerUpkeep(options, signal));
  return () => lead.stop();
}

interface LedgerKeeping extends LedgerUpkeepOptions {
  readonly database: Pick<Database, "flavour">;
  readonly leadership: Pick<Leadership, "lead">;
}

/**
 * What a ledger on PostgreSQL needs from one process at a time, until the signal aborts: sums are folded every second, months are made
 * ahead every hour, days that are over are summed one after the other. Nothing is wrong while nobody does it, and nothing when two do:
 * sums are read whole all the same, and entries without a month have a place.
 */
async function ledgerUpkeep(options: LedgerUpkeepOptions, signal: AbortSignal): Promise<void> {
  const { ledgerStore, clock, observer } = options;
  let monthsAt = Number.NEGATIVE_INFINITY;
  const faultOf = (fault: string, over: string) =>
    new LastingFault({ clock, observer, level: "warn", fault: `${fault} It is tried again.`, over });
  const months = faultOf("The ledger's next months could not be made.", "The ledger's next months are made.");
  const sums = faultOf("The sums of usage could not be folded.", "The sums of usage are folded again.");
  const days = faultOf("The sums of a day could not be made.", "The sums of days are made again.");
  let daysDueAt = clock.monotonic() + bounds.summedDayFirstMs;
  while (!signal.aborted) {
    if (clock.monotonic() - monthsAt >= bounds.pruneMs) {
      monthsAt = clock.monotonic();
      await attempted(months, () => ledgerStore.makeMonths(clock.now()));
    }
    const folded = await attempted(sums, () => ledgerStore.fold());
    if (folded >= bounds.foldRows) continue;
    if (clock.monotonic() >= daysDueAt) {
      const summed = await attempted(days, () => ledgerStore.sumDay(clock.now()));
      daysDueAt = clock.monotonic() + (summed > 0 ? bounds.summedDayPauseMs : bounds.summedDayIdleMs);
    }
    await sleep(clock, folded > 0 ? bounds.foldMs : bounds.foldIdleMs, signal);
  }
}

async function attempted(fault: LastingFault, act: () => Promise<number>): Promise<number> {
  try {
    const done = await act();
    fault.passed();
    return done;
  } catch (thrown) {
    fault.failed({ error: thrown });
    return 0;
  }
}
