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
  instanceTellMs: 10_000,
  instanceAliveMs: 30_000,
  instanceKeptMs: 24 * 3_600_000,
  /** Processes that are listed, the latest first. */
  instancesMax: 200,
} as const;
