/** Which process does what, and which processes there are. Times in milliseconds. */
export const leasesBounds = {
  /** A lease of work is given to another so long after its holder was last heard. It is renewed at each third of that. */
  leaseMs: 15_000,
  /** Work that failed, or ended too early, is begun again so much later. */
  leaseRestMs: 5_000,
  /** How often a process reports that it is alive. */
  instanceTellMs: 5_000,
  /** Processes that are listed, the latest first. */
  instancesMax: 200,
  /** What processes do one after the other at their starts: how long one waits for its turn, and how often it looks. */
  startTurnMs: 60_000,
  startTurnLookMs: 100,
  /** Words between processes. PostgreSQL takes 8,000 bytes at a time. */
  broadcastTextBytesMax: 7_900,
} as const;
