import { bounds } from "#core/index.ts";
import type { Clock, LedgerStore, Observer } from "#ports/index.ts";
import type { CatalogHolder } from "./catalog-holder.ts";

export interface PruningOptions {
  readonly clock: Clock;
  readonly ledgerStore: LedgerStore;
  readonly catalog: CatalogHolder;
  readonly observer: Observer;
}

/** Removes ledger entries that are older than the retention, now and then. Rollups stay. Returns its own end. */
export function pruneDaily(options: PruningOptions): () => void {
  const { clock, ledgerStore, catalog, observer } = options;
  let ended = false;
  let stop = (): void => {};
  const later = (): void => {
    if (!ended) stop = clock.after(bounds.pruneMs, () => void prune());
  };
  const prune = async (): Promise<void> => {
    try {
      const removed = await ledgerStore.prune(clock.now() - catalog.current.settings.ledgerRetentionDays * 86_400_000);
      if (removed > 0) observer.log("info", "Old ledger entries were removed.", { removed });
    } catch (thrown) {
      observer.log("warn", "Old ledger entries could not be removed; it is tried again later.", { error: thrown });
    }
    later();
  };
  later();
  return () => {
    ended = true;
    stop();
  };
}
