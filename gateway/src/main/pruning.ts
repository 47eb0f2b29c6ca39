import { bounds } from "#core/index.ts";
import type { Clock, KeptLease, Leadership, LedgerStore, Observer, UpstreamObjectStore } from "#ports/index.ts";
import type { KeptExplainer } from "#storage/index.ts";
import type { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import { explainedAges } from "./open-explainer.ts";

export interface PruningOptions {
  readonly clock: Clock;
  readonly ledgerStore: LedgerStore;
  readonly objectStore: Pick<UpstreamObjectStore, "prune">;
  readonly explainer: Pick<KeptExplainer, "prune">;
  /** Resolves to how many entries of the audit log went. */
  readonly pruneAudit: (beforeMs: number) => Promise<number>;
  readonly configSnapshot: Pick<ConfigSnapshotHolder, "current">;
  readonly observer: Observer;
  readonly leadership: Pick<Leadership, "once">;
}

/**
 * Removes ledger entries, explanations, captures and audit entries that are too old, and expired upstream objects, now and then, in one process at a time. Rollups stay.
 * Returns its own end.
 */
export function pruneDaily(options: PruningOptions): () => void {
  const { clock, ledgerStore, objectStore, explainer, pruneAudit, configSnapshot, observer, leadership } = options;
  let ended = false;
  let stop = (): void => {};
  let seen = { now: clock.now(), passedMs: clock.monotonic() };
  const later = (): void => {
    if (!ended) stop = clock.after(bounds.pruneMs, () => void prune());
  };
  /** By a wrong clock everything is too old, and what is removed does not come back when the clock is mended. */
  const isAhead = (): boolean => {
    const before = seen;
    seen = { now: clock.now(), passedMs: clock.monotonic() };
    return seen.now - before.now - (seen.passedMs - before.passedMs) > bounds.pruneClockMs;
  };
  const prune = async (): Promise<void> => {
    if (isAhead()) {
      observer.log("warn", "The clock has jumped ahead; what is old by it stays until the next look, in an hour.");
      return later();
    }
    // What another process removes now is removed; a database that cannot be asked has nothing removed either.
    await leadership.once("prune", removeOld).catch(() => null);
    later();
  };
  const removeOld = async ({ signal }: Pick<KeptLease, "signal">): Promise<void> => {
    const now = clock.now();
    const { settings } = configSnapshot.current;
    await remove("ledger entries", () => ledgerStore.prune(now - settings.ledgerRetentionDays * dayMs));
    if (signal.aborted) return;
    await remove("upstream objects", () => objectStore.prune(now));
    if (signal.aborted) return;
    await remove("explanations and captures", () => explainer.prune(explainedAges(settings, now)));
    if (signal.aborted) return;
    await remove("audit entries", () => pruneAudit(now - settings.auditRetentionDays * dayMs));
  };
  const remove = async (what: string, act: () => Promise<number>): Promise<void> => {
    try {
      const removed = await act();
      if (removed > 0) observer.log("info", `Old ${what} were removed.`, { removed });
    } catch (thrown) {
      observer.log("warn", `Old ${what} could not be removed; it is tried again later.`, { error: thrown });
    }
  };
  later();
  return () => {
    ended = true;
    stop();
  };
}

const dayMs = 86_400_000;
