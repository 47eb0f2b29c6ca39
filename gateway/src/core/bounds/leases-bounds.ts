/** Which process does what, and which processes there are. Times in milliseconds. */
export const leasesBounds = {
  /** A lease of work is given to another so long after its holder was last heard. It is renewed at each third of that. */
  leaseMs: 15_000,
  /** The holder stops to believe in it so much earlier: for clocks that do not run alike, and for work that has to stop. */
  leaseMarginMs: 2_000,
  /** How long an answer about a lease is waited for. */
  leaseAnswerMs: 4_000,
  /** How often those who do not have a lease look whether it is free. */
  leaseLookMs: 5_000,
  /** How often a process that starts looks whether the only one that was there is still alive. */
  onlyProcessLookMs: 500,
  /** Work that failed, or ended too early, is begun again so much later. */
  leaseRestMs: 5_000,
  /** How often a process tells that it is there; without a word for so long it is taken for dead; then its row goes. */
  instanceTellMs: 5_000,
  instanceAliveMs: 20_000,
  instanceKeptMs: 24 * 3_600_000,
  /** Of so many tellings one removes what was kept for so long. */
  instanceTidyTells: 60,
  /** Processes that are listed, the latest first. */
  instancesMax: 200,
  /** What processes do one after the other at their starts: how long one waits for its turn, and how often it looks. */
  startTurnMs: 60_000,
  startTurnLookMs: 100,
  /** A config file that another process applies: how long its content is waited for before it is called another. */
  configElsewhereMs: 15_000,
  /** How often a process asks the database what time it is. */
  databaseClockMs: 30_000,
  /** Words between processes. PostgreSQL takes 8,000 bytes at a time. */
  broadcastTextBytesMax: 7_900,
  broadcastWaitingMax: 500,
  broadcastTogetherMax: 50,
  /** A session that listens is proven so often, and is lost when it does not hear itself within so long. */
  broadcastProofMs: 30_000,
  broadcastAnswerMs: 5_000,
  /** The rest before the next try doubles. */
  broadcastRetryMs: 500,
  broadcastRetryMsMax: 60_000,
} as const;
