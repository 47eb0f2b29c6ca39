import type { ChangeFeed, Clock, Journal } from "#ports/index.ts";
import type { Database } from "#storage/index.ts";
import type { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";

export interface ReadinessOptions {
  readonly leaving: () => boolean;
  readonly journal: Pick<Journal, "healthy">;
  readonly database: Pick<Database, "breaker">;
  readonly databaseWatch: { readonly problem: string | null; readonly remark: string | null };
  readonly counting: { remark(): string | null };
  readonly configFile: { readonly remark: string | null };
  readonly feed: Pick<ChangeFeed, "currentAtMs">;
  readonly configSnapshot: Pick<ConfigSnapshotHolder, "current">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** What `/readyz` says: why no call can be served, and what is amiss although calls can. null: nothing. */
export function readiness(options: ReadinessOptions) {
  const { leaving, journal, database, databaseWatch, counting, configFile, feed, configSnapshot, clock } = options;
  return {
    unready(): string | null {
      if (leaving()) return "draining";
      if (!journal.healthy) return "the ledger cannot be written";
      const { keysStaleMaxMs } = configSnapshot.current.settings;
      const isStale = database.breaker?.isOpen === true && clock.monotonic() - feed.currentAtMs >= keysStaleMaxMs;
      return isStale ? "the database has been unreachable for longer than keys.stale_max" : databaseWatch.problem;
    },
    remark(): string | null {
      const remarks = [databaseWatch.remark, counting.remark(), configFile.remark].filter((remark) => remark !== null);
      return remarks.length === 0 ? null : remarks.join("; ");
    },
  };
}
