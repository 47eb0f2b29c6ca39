import type { RelayDependencies } from "../dependencies.ts";

/** What must be so before an attempt is sent, beside that its intent is written; null: nothing. Rejects with ledger_unavailable. */
export function writtenAhead({ catalog, journal }: RelayDependencies): Promise<void> | null {
  const { ledgerDurability } = catalog().settings;
  return ledgerDurability === "strict" || ledgerDurability === "remote" ? journal.synced() : null;
}
