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
  /** Refusals alike within this time are one entry but for the first few; and how many kinds of them are told apart. */
  refusalsAloneMax: 5,
  refusalTogetherMs: 1_000,
  refusalKindsMax: 10_000,
  /** How often old ledger entries are looked for, how many go in one delete, and the pause after it. */
  pruneMs: 3_600_000,
  /** A clock that has gone so much further than time has passed is not believed until the next look. */
  pruneClockMs: 86_400_000,
  pruneRows: 64,
  prunePauseMs: 10,
  /** The same on PostgreSQL, where each delete is a round trip and nobody waits for it. */
  pruneRowsPostgres: 1_000,
  /** PostgreSQL: rows of sums that are added up in one transaction; how often it is looked for some, and how often when there are none. */
  foldRows: 2_000,
  foldMs: 1_000,
  foldIdleMs: 15_000,
  /**
   * Sums of days: how long after its end a day is summed, how soon one that has changed is summed again, the pause after one,
   * how often it is looked for one, how long after the start it is first, and of how many days without calls sums are made.
   */
  summedDayLagMs: 7_200_000,
  summedAgainMs: 600_000,
  summedDayPauseMs: 500,
  summedDayIdleMs: 300_000,
  summedDayFirstMs: 30_000,
  summedGapMs: 31 * 86_400_000,
  /**
   * The ledger's months on PostgreSQL: how many are made ahead, how far from today one may be (ten years back, 63 days ahead), how
   * many a writer remembers, and after how many batches it tries again to make one. Making one may wait so long for locks; dropping
   * one, for which inserts wait too, so long and so often.
   */
  ledgerMonthsAhead: 2,
  ledgerMonthsPastMs: 3_650 * 86_400_000,
  ledgerMonthsFutureMs: 63 * 86_400_000,
  ledgerMonthsKnownMax: 240,
  ledgerMonthBatches: 64,
  ledgerPartMs: 2_000,
  ledgerLockMs: 300,
  ledgerDropTries: 20,
  ledgerDropPauseMs: 1_000,
  /**
   * Copies of the ledger by the hour: how often it is looked whether one is due, first and later; how long after its end an hour is copied;
   * entries of one object and bytes of it before compression; rows that are read at once; how long one object may take to be made.
   */
  exportFirstLookMs: 20_000,
  exportLookMs: 300_000,
  exportSettleMs: 600_000,
  exportPartEntries: 50_000,
  exportPartBytes: 64 * 1024 * 1024,
  exportPageRows: 500,
  exportPartMs: 300_000,
  /** Entries that came late: for so long hours are compared each time of the first, older ones each time of the second; so many at once. */
  exportYoungMs: 48 * 3_600_000,
  exportCheckMs: 3_600_000,
  exportCheckOldMs: 86_400_000,
  exportChecksMax: 200,
  /** How soon a checkpoint follows the last one in a stream. */
  checkpointMs: 1_000,
  checkpointEvents: 64,
  /** Units of one class that one attempt may have used. An upstream that says more is mistaken, and sums are to stay what databases can add up. */
  usageCountMax: 10_000_000_000,
  /** Journal: a segment is closed at this size; records wait at most this long for the disk. */
  journalSegmentBytes: 64 * 1024 * 1024,
  journalSyncMs: 50,
  /** Settle records held in memory while the journal cannot be written (a full disk). */
  journalBacklogMax: 10_000,
  journalRecordBytesMax: 256 * 1024,
  /** Processes that may have journals in one data directory. */
  journalSlotsMax: 64,
  /** How often a process looks for journals that dead ones left, and how many entries it takes over in one batch. */
  adoptionMs: 5_000,
  adoptionBatchMax: 100,
  /**
   * Durability `remote`: how long a call waits until its intent is in the database; intents in one statement; how often
   * checkpoints follow. A process of which nothing was heard for the last of these is taken for one whose disk is lost.
   */
  remoteIntentMs: 5_000,
  remoteBatchMax: 500,
  remoteCheckpointMs: 1_000,
  remoteCheckpointsMax: 10_000,
  remoteLostMs: 600_000,
  /** How often it is looked for such. */
  remoteLookMs: 60_000,
  /** For so long one has to be found silent, again and again: when the database was away, its processes have to be heard again first. */
  remoteSureMs: 30_000,
  /** Records of an earlier run that are read without letting anything else run. */
  leftoversTurnRecords: 256,
  /** Rows in one database batch of the drain. */
  drainBatchMax: 1_000,
  userAgentBytesMax: 256,
  tagsMax: 16,
  tagBytesMax: 128,
  rawUsageBytesMax: 8 * 1024,
  /** Buffered journal bytes (checkpoints, refusals) that are written without waiting for the next record. */
  journalBufferBytes: 64 * 1024,
  /** The same backlog as journalBacklogMax, in bytes. */
  journalBacklogBytesMax: 64 * 1024 * 1024,
  /** How soon a refused journal write is tried again. */
  journalRetryMs: 200,
  /** How often the drain is told of new journal records, and how often while so many settled entries come between two tellings. */
  drainNoticeMs: 100,
  drainBusyNoticeMs: 500,
  drainBusyEntries: 32,
  /** The drain's waits after a refused batch: the first, doubled each time up to the last. */
  drainRetryMs: 50,
  drainRetryMsMax: 2_000,
  /** How soon a drain that died is started again. */
  drainRestartMs: 1_000,
  /** The drain's thread ends when nothing was written for so long, or a little longer, and nothing is open. */
  drainRestMs: 60_000,
  /** How long after that what a load left in memory is let go of, and how much it is at least. */
  restSettleMs: 5_000,
  restGrowthBytes: 8 * 1024 * 1024,
} as const;
