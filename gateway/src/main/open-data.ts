import { bounds } from "#core/index.ts";
import { makeFirstAdministrator } from "#identity/index.ts";
import type { Clock } from "#ports/index.ts";
import { createChangeFeed, openReports, watchDatabase } from "#storage/index.ts";
import { letGo } from "#system/index.ts";
import type { Base } from "./open-base.ts";
import { openJournal } from "./open-journal.ts";
import { openSignIn, useOidc } from "./sign-in.ts";

export type Data = Awaited<ReturnType<typeof openData>>;

/** Opens what is stored: people, the journal, reports, and the configuration as it changes. */
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
  const rest = letGoAtRest({ clock, residentBytes: () => process.memoryUsage.rss(), letGo });
  ending.defer("memory at rest", () => rest.close());
  const { journal, ...recovery } = await openJournal({
    ...{ control, observer },
    ...{ directory: options.directory, onFatal: options.onFatal, drain: options.drain },
    durability: configSnapshot.current.settings["ledger.durability"],
    onRest: () => rest.begins(),
  });
  ending.deferLast("journal", (ms) => journal.close(ms));
  processes.tellLag(() => journal.lag);
  const reports = await (options.openReports ?? openReports)({ place, clock, observer });
  ending.defer("reports", () => reports.close());
  configSnapshot.follow({ observer, alsoRead: () => useOidc({ signIn, controlStore, rights, observer }) });
  ending.defer("configuration", () => configSnapshot.close());
  const feed = createChangeFeed({ database, clock, observer, broadcast: processes.broadcast });
  return {
    ...{ signIn, databaseWatch, rest, journal, reports, feed, ...recovery },
    /** Resolves when this process goes by everything that was written until now. */
    async changesSeen(): Promise<void> {
      await feed.catchUp();
      await configSnapshot.settled();
    },
  };
}

/**
 * Lets go of what a load left behind, once for each load: when the process has come to rest, and holds `bounds.restGrowthBytes`
 * more than at its last rest. That costs some 30 ms of the loop and the next calls their warm code, so a process that is called
 * now and then, and does not grow by it, is left alone.
 */
export function letGoAtRest({
  clock,
  residentBytes,
  letGo,
}: {
  readonly clock: Clock;
  /** What this process holds in memory. */
  readonly residentBytes: () => number;
  readonly letGo: () => Promise<void>;
}) {
  let least = residentBytes();
  const busy: (() => boolean)[] = [];
  let unbook = (): void => undefined;
  const later = (act: () => void): void => {
    unbook();
    // Meanwhile the threads that rest as well end, and the allocator gives back what is free.
    unbook = clock.after(bounds.restSettleMs, () => {
      if (!busy.some((isBusy) => isBusy())) act();
    });
  };
  const measure = (): void => {
    least = residentBytes();
  };
  return {
    /** No call began or ended for a while. */
    begins: (): void =>
      later(() => {
        const held = residentBytes();
        if (held < least) least = held;
        if (held - least < bounds.restGrowthBytes) return;
        void letGo().then(() => later(measure));
      }),
    /** It does not rest while this says that a call is under way. */
    unless: (isBusy: () => boolean): void => void busy.push(isBusy),
    close: (): void => unbook(),
  };
}
