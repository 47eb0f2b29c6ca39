import { bounds } from "#core/index.ts";
import { makeFirstAdministrator } from "#identity/index.ts";
import type { Clock } from "#ports/index.ts";
import { createChangeFeed, openReports, watchDatabase } from "#storage/index.ts";
import { releaseMemory } from "#system/index.ts";
import type { Base } from "./open-base.ts";
import { openJournal } from "./open-journal.ts";
import { openSignIn, useOidc } from "./sign-in.ts";

export type Data = Awaited<ReturnType<typeof openData>>;

/** Opens sign-in, the journal, reports, and the feed of configuration changes. */
export async function openData(base: Base) {
  const { options, environment, control, configSnapshot, transport, processes, observer, ending, clock } = base;
  const { database, place, people, controlStore, rights } = control;
  const signIn = (options.openSignIn ?? openSignIn)({ environment, control, transport, observer });
  if (environment.administrator !== null) {
    const { email, password } = environment.administrator;
    await makeFirstAdministrator({ signIn, people }, { email, password: password.reveal() }, null);
  }
  const databaseWatch = await watchDatabase({ place, database, clock, observer });
  ending.defer("watch of the database", () => databaseWatch.close());
  const idleMemory = releaseWhenIdle({ clock, residentBytes: () => process.memoryUsage.rss(), releaseMemory });
  ending.defer("release of memory", () => idleMemory.close());
  const { journal, ...recovery } = await openJournal({
    ...{ control, observer },
    ...{ directory: options.directory, onFatal: options.onFatal, drain: options.drain },
    durability: configSnapshot.current.settings["ledger.durability"],
    onRest: () => idleMemory.idle(),
  });
  ending.deferLast("journal", (ms) => journal.close(ms));
  processes.setLag(() => journal.lag);
  const reports = await (options.openReports ?? openReports)({ place, clock, observer, database });
  ending.defer("reports", () => reports.close());
  // Otherwise the first call with a budget would wait 0.2 s for the start of a thread.
  const nowMs = clock.now();
  void reports.spending([{ kind: "key", id: "", from: nowMs, to: null }], nowMs).catch(() => undefined);
  configSnapshot.follow({ observer, alsoRead: () => useOidc({ signIn, controlStore, rights, observer }) });
  ending.defer("configuration", () => configSnapshot.close());
  const feed = createChangeFeed({ database, clock, observer, broadcast: processes.broadcast });
  return {
    ...{ signIn, databaseWatch, idleMemory, journal, reports, feed, ...recovery },
    /** Resolves when this process uses everything that was written until now. */
    async changesSeen(): Promise<void> {
      await feed.catchUp();
      await configSnapshot.settled();
    },
  };
}

/**
 * Releases memory when the process is idle for the first time, and then whenever it is idle and holds `bounds.restGrowthBytes` more than
 * when it was last idle. Releasing takes some 30 ms and discards compiled code, so it is not done for a few calls.
 */
export function releaseWhenIdle({
  clock,
  residentBytes,
  releaseMemory,
}: {
  readonly clock: Clock;
  readonly residentBytes: () => number;
  readonly releaseMemory: () => Promise<void>;
}) {
  let leastBytes = 0;
  const busyChecks: (() => boolean)[] = [];
  let cancel = (): void => undefined;
  const later = (act: () => void): void => {
    cancel();
    // Gives idle threads time to end, and the allocator to return free memory.
    cancel = clock.after(bounds.restSettleMs, () => {
      if (busyChecks.some((isBusy) => isBusy())) later(act);
      else act();
    });
  };
  const measure = (): void => {
    leastBytes = residentBytes();
  };
  return {
    /** Call it when no call has begun or ended for a while. */
    idle: (): void =>
      later(() => {
        const bytes = residentBytes();
        leastBytes = Math.min(leastBytes, bytes);
        if (bytes - leastBytes < bounds.restGrowthBytes) return;
        void releaseMemory().then(() => later(measure));
      }),
    /** The process is not idle while `isBusy` returns true. */
    busyWhile: (isBusy: () => boolean): void => void busyChecks.push(isBusy),
    close: (): void => cancel(),
  };
}
