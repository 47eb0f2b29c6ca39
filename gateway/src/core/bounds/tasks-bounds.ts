/** Video tasks, their results and messages. Sizes in bytes, times in milliseconds. */
export const tasksBounds = {
  /** A video task that has not ended by then has expired. Vendors give up after 48 hours themselves (Ark). */
  taskDeadlineMs: 49 * 3_600_000,
  /** The body of a task, with what stands in it as `data:`. */
  taskRequestBytesMax: 32 * 1024 * 1024,
  /** So small a body is worked on at once and kept whole in its row; of a larger one the material is kept apart. */
  taskBodyInPlaceBytesMax: 64 * 1024,
  /** What of a larger body is not material: it stays in the row. */
  taskOutlineBytesMax: 256 * 1024,
  /** How long one pass may work on a task before another may take it: a poll of the upstream, or a whole submission. */
  taskLeaseMs: 120_000,
  taskSubmitLeaseMs: 300_000,
  /** One attempt to submit, and how soon the poller may take what a POST left. */
  taskSubmitAttemptMs: 60_000,
  taskAcceptedGraceMs: 10_000,
  /** One poll of the upstream: to connect, to the status line, in all. */
  taskPollConnectMs: 5_000,
  taskPollHeadersMs: 15_000,
  taskPollTotalMs: 25_000,
  /** The shortest time between two reads of due tasks. */
  taskTickMs: 500,
  /** How long a caller's GET waits for a poll of the upstream. */
  taskRefreshMs: 2_000,
  /** How long the vendor must say "no such task" before it is believed. */
  taskGoneMs: 600_000,
  /** Accounts of running tasks that are remembered as providers. */
  taskAccountsMax: 1_000,
  /** How long something is held for a task that is not stored: its request may still be on its way to the store. */
  taskHoldUnstoredMs: 120_000,
  /** How long one message to a caller may take. */
  deliveryTotalMs: 20_000,
  taskErrorCharactersMax: 2_000,
} as const;
