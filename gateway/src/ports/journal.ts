import type { Checkpoint, GuardrailCheckEntry, Intent, LedgerEntry, Settlement } from "#core/index.ts";

/**
 * The write-ahead file of the ledger. The intents and settlements of one turn of the event loop are written together, at its end or by
 * `flush`. From then on they survive a crash of this process; with `disk` durability also one of the machine, after
 * bounds.journalSyncMs.
 */
export interface Journal {
  /** Throws ledger_unavailable if the disk fails. No request is sent before `flush` has returned true. */
  intent(intent: Intent): void;
  /** Writes all intents and settlements so far. Returns false if the disk does not accept them. */
  flush(): boolean;
  /**
   * Written with the next record or within bounds.journalSyncMs; at once if it has an `upstreamId`, because the caller learns that id
   * next.
   */
  checkpoint(checkpoint: Checkpoint): void;
  /** Never throws. While the disk fails, at most bounds.journalBacklogMax records wait to be retried. */
  settle(settlement: Settlement): void;
  /**
   * A whole entry: a call refused before any attempt, or what another model used within an attempt. Never throws. Written before the next
   * record.
   */
  refuse(entry: LedgerEntry): void;
  /** A check of a guardrail that found something or failed. Never throws. Written before the next record. */
  check(check: GuardrailCheckEntry): void;
  /** False while the disk fails. */
  readonly healthy: boolean;
  /** Settled entries and checks that are not yet in the database. */
  readonly lag: number;
  /** Resolves when all records so far are synced to disk. */
  synced(): Promise<void>;
  /** Resolves when every settled entry is in the database, or when `signal` aborts. */
  drained(signal: AbortSignal): Promise<void>;
  /** Writes, syncs and drains the rest within `timeoutMs`. Open intents stay in the file for recovery. */
  close(timeoutMs: number): Promise<void>;
}

export type JournalRecord =
  | { readonly type: "intent"; readonly value: Intent }
  | { readonly type: "checkpoint"; readonly value: Checkpoint }
  | { readonly type: "settle"; readonly value: Settlement }
  | { readonly type: "refuse"; readonly value: LedgerEntry }
  | { readonly type: "check"; readonly value: GuardrailCheckEntry };

/** Records of earlier processes, in order. An incomplete last line is ignored. */
export interface JournalLeftovers {
  records(): AsyncIterable<JournalRecord>;
  /** Damaged lines, with file and offset. */
  readonly damage: readonly string[];
  /** Removes the files. Call it when everything in them is stored. */
  discard(): Promise<void>;
}

/** The journal of a dead process, locked by this process while it is recovered. */
export interface AbandonedJournal {
  /** For the log. */
  readonly place: string;
  /** `proc_…`; null if unknown. */
  readonly owner: string | null;
  readonly leftovers: JournalLeftovers;
  /** Frees the journal for another process. Call it after `leftovers.discard`. */
  clear(): Promise<void>;
}
