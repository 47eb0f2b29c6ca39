import type { Checkpoint, Intent, LedgerEntry, Settlement } from "#core/index.ts";

/**
 * The write-ahead file of the ledger. What `intent` and `settle` are given is with the operating system when they
 * return: it survives the death of this process, and with `disk` durability that of the machine within
 * bounds.journalSyncMs.
 */
export interface Journal {
  /** Throws ledger_unavailable when it cannot be written: no intent, no dispatch. */
  intent(intent: Intent): void;
  /**
   * Written soon (with the next record or within bounds.journalSyncMs); at once when it has an `upstreamId`, which the
   * caller is about to be told.
   */
  checkpoint(checkpoint: Checkpoint): void;
  /** Never throws; while the disk refuses, at most bounds.journalBacklogMax are kept and tried again. */
  settle(settlement: Settlement): void;
  /** A whole entry at once, for a call that was refused before any attempt. Written soon. */
  refuse(entry: LedgerEntry): void;
  /** False while the disk refuses. */
  readonly healthy: boolean;
  /** Settled entries that are not yet in the database. */
  readonly lag: number;
  /** Resolves when everything given so far is synced to disk. */
  synced(): Promise<void>;
  /** Resolves when every settled entry is in the database, or when `signal` ends the wait. */
  drained(signal: AbortSignal): Promise<void>;
  /** Writes, syncs and drains what is left, within `timeoutMs`. Open intents stay in the file for recovery. */
  close(timeoutMs: number): Promise<void>;
}

export type JournalRecord =
  | { readonly type: "intent"; readonly value: Intent }
  | { readonly type: "checkpoint"; readonly value: Checkpoint }
  | { readonly type: "settle"; readonly value: Settlement }
  | { readonly type: "refuse"; readonly value: LedgerEntry };

/** What earlier processes left behind, in order. A torn last line is passed over; any other damage is reported. */
export interface JournalLeftovers {
  records(): AsyncIterable<JournalRecord>;
  /** Lines that were neither whole nor the torn end, with file and offset. */
  readonly damage: readonly string[];
  /** Removes the files once everything in them is safe elsewhere. */
  discard(): Promise<void>;
}
