/** Several workers of one gateway on one machine. Times in milliseconds. */
export const workersBounds = {
  workersMax: 256,
  /** From its start until a worker takes calls; one that takes longer is ended. Bringing a large database up to date takes its time. */
  workerStartMs: 600_000,
  /** The first rest before a worker that ended is started again; it doubles with each that ends, up to the last. */
  workerRestMs: 200,
  workerRestMsMax: 30_000,
  /** A worker that has taken calls for so long has come to stay: what ended before is forgotten. */
  workerSteadyMs: 10_000,
  /** So many ends in a row, and no worker that takes calls: the gateway gives up. */
  workerEndsMax: 8,
  /** Told to end, a worker says how long it will take at most; one that does not say so for so long is killed. */
  workerSilenceMs: 30_000,
  /** What a worker may take beyond what it said, and all that it may take once somebody is tired of waiting. */
  workerReserveMs: 15_000,
  workerHurriedMs: 30_000,
  /** A worker says its numbers, or does what concerns the port, within this; else its last numbers count. */
  workerAnswerMs: 2_000,
  /** And whoever asked for the numbers of all waits a little longer. */
  workersAnswerMs: 4_000,
  /** A worker opens its port within this once it is its turn. */
  workerListenMs: 30_000,
  /**
   * A worker that leaves stays at least so long after new connections are kept from it: one that was opened just before and
   * says nothing yet is handed over by the kernel only after a second (TCP_DEFER_ACCEPT).
   */
  workerSettleMs: 3_000,
  /** How often a worker that leaves looks whether its connections have gone. */
  workerLookMs: 100,
  /** A line of a worker's log; the rest of a longer one begins another. */
  workerLineBytesMax: 256 * 1024,
} as const;
