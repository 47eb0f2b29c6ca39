/** The journal, its drain, and what an entry holds. Sizes in bytes, times in milliseconds. */
export const ledgerBounds = {
  /** At the end of a drain: for the last error events to leave, and for the ledger to be flushed. */
  lastBytesMs: 2_000,
  flushMs: 30_000,
  /** Of the latter: what one part of the gateway may take to end, all together, and each at least when that is over. The journal has the rest. */
  endStepMs: 5_000,
  endWorkMs: 15_000,
  endStepMsMin: 500,
  /** What is on its way to a vendor, and what the shared counter is still to be told, may take longer than other parts. */
  endStepMsMax: 10_000,
  /** How often old ledger entries are looked for, how many go in one delete, and the pause after it. */
  pruneMs: 3_600_000,
  pruneRows: 64,
  prunePauseMs: 10,
  /** The same on PostgreSQL, where each delete is a round trip and nobody waits for it. */
  pruneRowsPostgres: 1_000,
  /** PostgreSQL: rows of sums that are added up in one transaction, and how often it is looked for some when there were none. */
  foldRows: 2_000,
  foldIdleMs: 15_000,
  /** Sums of days: the pause after one, how often the next is looked for, and when first after the start. */
  summedDayPauseMs: 500,
  summedDayIdleMs: 300_000,
  summedDayFirstMs: 30_000,
  /** Copies of the ledger: how long after its end an hour is copied. */
  exportSettleMs: 600_000,
  /** Units of one class that one attempt may have used. An upstream that says more is mistaken, and sums are to stay what databases can add up. */
  usageCountMax: 10_000_000_000,
  /** Records of the journal wait at most this long for the disk. */
  journalSyncMs: 50,
  /** Settle records held in memory while the journal cannot be written (a full disk). */
  journalBacklogMax: 10_000,
  journalRecordBytesMax: 256 * 1024,
  /** Processes that may have journals in one data directory. */
  journalSlotsMax: 64,
  /** Durability `remote`: intents in one statement. */
  remoteBatchMax: 500,
  /** Rows in one database batch of the drain. */
  drainBatchMax: 5_000,
  userAgentBytesMax: 256,
  tagsMax: 16,
  rawUsageBytesMax: 8 * 1024,
  /** Buffered journal bytes (checkpoints, refusals) that are written without waiting for the next record. */
  journalBufferBytes: 64 * 1024,
  /** The drain's waits after a refused batch: the first, doubled each time up to the last. */
  drainRetryMs: 50,
  drainRetryMsMax: 2_000,
  /** How long after the last call what a load left in memory is let go of, and how much it is at least. */
  restSettleMs: 5_000,
  restGrowthBytes: 8 * 1024 * 1024,
} as const;
