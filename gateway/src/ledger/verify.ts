import { costOf, type LedgerEntry, type NanoUsd, usageClasses } from "#core/index.ts";
import type { JournalLeftovers, LedgerCheck, LedgerFault, LedgerStore } from "#ports/index.ts";
import { OpenAttempts } from "./open-attempts.ts";

export interface Verification extends LedgerCheck {
  /** Records still in the journal: entries that are or will be in the database, and attempts that have not ended. */
  readonly journal: { readonly settled: number; readonly open: number };
}

/**
 * Checks the ledger without changing it. In the database, see `LedgerStore.check`: rollups are the sums of their rows, a cost is its
 * price times its usage, nothing is negative, and a refusal has no usage. In the journal, every line is complete, every settlement has
 * its intent, and every entry costs its price times its usage. It may run while the gateway runs: an open attempt is no fault.
 */
export async function verifyLedger(options: {
  readonly store: Pick<LedgerStore, "check" | "price">;
  readonly leftovers: JournalLeftovers;
  readonly signal?: AbortSignal;
}): Promise<Verification> {
  const { store, leftovers, signal } = options;
  const faults: LedgerFault[] = [];
  const open = new OpenAttempts();
  let settled = 0;
  for await (const record of leftovers.records()) {
    signal?.throwIfAborted();
    const entry = open.take(record);
    if (entry === null) continue;
    settled += 1;
    if (faults.length < faultsMax) faults.push(...(await entryFaults(entry, store)));
  }
  for (const detail of leftovers.damage.slice(0, faultsMax)) {
    faults.push({ rule: "every line of the journal is complete", detail });
  }
  // A segment is removed once it is in the database, so a settlement without an intent is a fault only if a line is damaged.
  if (open.strays > 0 && leftovers.damage.length > 0) {
    const detail = `${open.strays} settlements have no intent in the journal`;
    faults.push({ rule: "every settlement has its intent", detail });
  }
  const { entries, costNanoUsd, faults: stored } = await store.check();
  return { entries, costNanoUsd, journal: { settled, open: open.size }, faults: [...stored, ...faults] };
}

/** Faults of the journal that are reported. */
const faultsMax = 100;

async function entryFaults(entry: LedgerEntry, store: Pick<LedgerStore, "price">): Promise<readonly LedgerFault[]> {
  const detail = (found: string) => `attempt ${entry.attemptId}, not yet in the database: ${found}`;
  const negative = usageClasses.find((name) => entry.usage[name] < 0);
  if (negative !== undefined || entry.costNanoUsd < 0) {
    const found = negative === undefined ? `costs ${entry.costNanoUsd}` : `${negative} is ${entry.usage[negative]}`;
    return [{ rule: "no count and no amount is negative", detail: detail(found) }];
  }
  const expected = await expectedCost(entry, store);
  const booked = entry.costSource === "vendor" ? (entry.ownCostNanoUsd ?? 0) : entry.costNanoUsd;
  if (expected === null || expected === booked) return [];
  const found = `${booked} nano-USD, by its price version it is ${expected}`;
  return [{ rule: "a cost is its price version times its usage", detail: detail(found) }];
}

/** null: the price version does not exist. */
async function expectedCost(entry: LedgerEntry, store: Pick<LedgerStore, "price">): Promise<NanoUsd | null> {
  if (entry.priceVersion === null) return 0;
  const version = await store.price(entry.priceVersion);
  return version === null ? null : costOf(version.table, entry.usage);
}
