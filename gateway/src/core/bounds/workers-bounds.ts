/** Workers on one machine. Times in milliseconds. */
export const workersBounds = {
  /** Timeout of a worker's report; otherwise its last metrics are used. */
  workerAnswerMs: 2_000,
} as const;
