/** Video tasks, their results and webhooks. Sizes in bytes, times in milliseconds. */
export const tasksBounds = {
  /** A video task expires after this long. Vendors give up after 48 hours (Ark). */
  taskDeadlineMs: 49 * 3_600_000,
  /** Body of a task, including `data:` URLs. */
  taskRequestBytesMax: 32 * 1024 * 1024,
  /** Smaller bodies are processed at once and stored in the row; material of larger ones is stored separately. */
  taskBodyInPlaceBytesMax: 64 * 1024,
  /** The rest of a larger body, which is stored in the row. */
  taskOutlineBytesMax: 256 * 1024,
  /** How long one process may work on a task: a poll, or a submission. */
  taskLeaseMs: 120_000,
  taskSubmitLeaseMs: 300_000,
  /** Timeout of an attempt to submit, and the age at which the poller submits a task that its request left unsent. */
  taskSubmitAttemptMs: 60_000,
  taskAcceptedGraceMs: 10_000,
  /** A poll: timeouts for connecting, for the status line, and in total. */
  taskPollConnectMs: 5_000,
  taskPollHeadersMs: 15_000,
  taskPollTotalMs: 25_000,
  /** Shortest interval between two reads of due tasks. */
  taskTickMs: 500,
  /** How long a caller's GET waits for a poll of the upstream. */
  taskRefreshMs: 2_000,
  /** How long the vendor must answer "no such task" before the task fails. */
  taskGoneMs: 600_000,
  /** Cached accounts of running tasks. */
  taskAccountsMax: 1_000,
  /** How long a hold is kept for a task that is not stored, because its request may still arrive. */
  taskHoldUnstoredMs: 120_000,
  /** Timeout of a webhook. */
  deliveryTotalMs: 20_000,
  taskErrorCharactersMax: 2_000,
} as const;
