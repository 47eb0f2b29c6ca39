/** Several workers of one gateway on one machine. Times in milliseconds. */
export const workersBounds = {
  workersMax: 256,
  /** A worker says its numbers, or does what concerns the port, within this; else its last numbers count. */
  workerAnswerMs: 2_000,
  /**
   * A worker that leaves stays at least so long after new connections are kept from it: one that was opened just before and
   * says nothing yet is handed over by the kernel only after a second (TCP_DEFER_ACCEPT).
   */
  workerSettleMs: 3_000,
  /** How often a worker that leaves looks whether its connections have gone. */
  workerLookMs: 100,
} as const;
