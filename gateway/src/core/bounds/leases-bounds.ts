/** Leases and processes. Times in milliseconds. */
export const leasesBounds = {
  /** Lifetime of a lease, which is renewed at a third of it. */
  leaseMs: 15_000,
  /** Pause before failed or finished work starts again. */
  leaseRestMs: 5_000,
  /** How often a process reports that it is alive. */
  heartbeatMs: 5_000,
  /** Processes listed, latest first. */
  instancesMax: 200,
  /** Work that processes do one after the other at their start: timeout of the turn, and how often it is checked. */
  startTurnMs: 60_000,
  startTurnPollMs: 100,
  /** Size of a message between processes. PostgreSQL accepts 8,000 bytes. */
  broadcastTextBytesMax: 7_900,
} as const;
