import type { Environment } from "#config/index.ts";
import type { Clock, Leadership, LedgerStore, Observer, Transport } from "#ports/index.ts";
import { auditEntriesAfter, type KeptExplainer, pruneAudit } from "#storage/index.ts";
import type { Metrics } from "#telemetry/index.ts";
import { startAuditStream } from "./audit-stream.ts";
import type { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import type { Control } from "./control.ts";
import type { Ending } from "./ending.ts";
import { startLedgerExport } from "./ledger-export.ts";
import { keepLedger } from "./ledger-upkeep.ts";
import { pruneDaily } from "./pruning.ts";
import { refreshPriceList } from "./refresh-price-list.ts";

export interface UpkeepParts {
  readonly environment: Environment;
  readonly control: Control;
  readonly ledgerStore: LedgerStore;
  readonly configSnapshot: Pick<ConfigSnapshotHolder, "current">;
  readonly explainer: Pick<KeptExplainer, "prune">;
  readonly transport: Transport;
  readonly leadership: Leadership;
  readonly metrics: Metrics;
  readonly observer: Observer;
  /** What money and age are counted by. */
  readonly clock: Clock;
}

/** Starts what one process of an installation does at a time, beside the calls. Returns its end. */
export function startUpkeep(parts: UpkeepParts): (ending: Ending) => Promise<void> {
  const { environment, control, observer, leadership } = parts;
  const { database, controlStore, objectStore, facts } = control;
  const stopSums = keepLedger({ ...parts, database });
  const stopExport = startLedgerExport(parts);
  const stopRefreshing = refreshPriceList(environment.priceList, { ...parts, controlStore, clock: control.clock });
  const stopPruning = pruneDaily({
    ...parts,
    objectStore,
    pruneAudit: (beforeMs) => pruneAudit(database, beforeMs),
  });
  const stopAudit = startAuditStream({
    ...{ facts, observer, leadership, clock: control.clock },
    entriesAfter: (from, limit) => auditEntriesAfter(database, from, limit),
  });
  return async (ending) => {
    stopPruning();
    await ending.step("sums of the ledger", () => stopSums());
    await ending.step("copies of the ledger", () => stopExport());
    await ending.step("catalogue of prices", () => stopRefreshing());
    await ending.step("audit entries for the log", () => stopAudit());
  };
}
