import type { Checkpoint, Intent, LedgerEntry, Settlement } from "#core/index.ts";

/**
 * The write-ahead file of the ledger. When `intent` and `settle` return, the operating system has the record: it survives
 * a crash of this process. With `disk` durability it survives a crash of the machine too, after bounds.journalSyncMs.
 */
export interface Journal {
  /** Throws ledger_unavailable when it cannot be written: no intent, no dispatch. */
  intent(intent: Intent): void;
  /**
   * Written with the next record or within bounds.journalSyncMs. With an `upstreamId` it is written at once, because the
   * caller learns that id next.
   */
  checkpoint(checkpoint: Checkpoint): void;
  /** Never throws. While the disk fails, at most bounds.journalBacklogMax records wait and are tried again. */
  settle(settlement: Settlement): void;
  /**
   * A whole entry: of a call that was refused before any attempt, or of what another model used within an attempt. Never throws, as
   * `settle`. Written soon, and before what is given next.
   */
  refuse(entry: LedgerEntry): void;
  /** False while the disk fails. */
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

/** The records that earlier processes left, in order. An incomplete last line is ignored; other damage is reported. */
export interface JournalLeftovers {
  records(): AsyncIterable<JournalRecord>;
  /** Damaged lines, with file and offset. An incomplete last line does not count. */
  readonly damage: readonly string[];
  /** Removes the files. To be called when everything in them is stored elsewhere. */
  discard(): Promise<void>;
}

/** The journal of a process that is dead, held by this one while it is taken over. */
export interface AbandonedJournal {
  /** Where it is, for the log. */
  readonly place: string;
  /** The process that wrote it, `proc_…`; null when it could not say so any more. */
  readonly owner: string | null;
  readonly leftovers: JournalLeftovers;
  /** Everything of that process is told: its journal may be another's. After `leftovers.discard`. */
  clear(): Promise<void>;
}
