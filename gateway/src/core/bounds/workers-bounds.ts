/** Several workers of one gateway on one machine. Times in milliseconds. */
export const workersBounds = {
  /** A worker says its numbers, or does what concerns the port, within this; else its last numbers count. */
  workerAnswerMs: 2_000,
} as const;
