/** The journal, its drain, and ledger entries. Sizes in bytes, times in milliseconds. */
export const ledgerBounds = {
  /** Shutdown: time for the last error events, and for flushing the ledger. */
  lastBytesMs: 2_000,
  flushMs: 30_000,
  /** Shutdown: time for one part, for all parts together, and the minimum for each. The journal has the rest. */
  endStepMs: 5_000,
  endWorkMs: 15_000,
  endStepMsMin: 500,
  /** Time for parts that wait for a vendor or the shared counter. */
  endStepMsMax: 10_000,
  /** How often old ledger entries are deleted, how many per statement, and the pause after it. */
  pruneMs: 3_600_000,
  pruneRows: 64,
  prunePauseMs: 10,
  /** On PostgreSQL each statement is a round trip. */
  pruneRowsPostgres: 1_000,
  /** PostgreSQL: rows of sums folded in one transaction, and the pause when there were none. */
  foldRows: 2_000,
  foldIdleMs: 15_000,
  /** Sums of days: pause after one, interval when there was none, and delay after the start. */
  summedDayPauseMs: 500,
  summedDayIdleMs: 300_000,
  summedDayFirstMs: 30_000,
  /** How long after its end an hour is exported. */
  exportSettleMs: 600_000,
  /** Units of one class in one attempt. More is a mistake of the upstream, and databases must be able to sum the counts. */
  usageCountMax: 10_000_000_000,
  /** Longest wait of journal records for a sync to disk. */
  journalSyncMs: 50,
  /** Settlements kept in memory while the journal cannot be written (disk full). */
  journalBacklogMax: 10_000,
  journalRecordBytesMax: 256 * 1024,
  /** Processes with journals in one data directory. */
  journalSlotsMax: 64,
  /** Durability `remote`: intents per statement. */
  remoteBatchMax: 500,
  /** Rows per batch of the drain. */
  drainBatchMax: 5_000,
  userAgentBytesMax: 256,
  tagsMax: 16,
  rawUsageBytesMax: 8 * 1024,
  /** Buffered journal bytes (checkpoints, refusals) after which they are written. */
  journalBufferBytes: 64 * 1024,
  /** Backoff of the drain after a failed batch: first and longest pause. */
  drainRetryMs: 50,
  drainRetryMsMax: 2_000,
  /** Memory is released this long after the last call, if at least so much can be freed. */
  restSettleMs: 5_000,
  restGrowthBytes: 8 * 1024 * 1024,
} as const;
