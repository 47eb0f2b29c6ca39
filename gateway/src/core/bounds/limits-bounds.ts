/** Counting for limits, and money held for calls. Times in milliseconds. */
export const limitsBounds = {
  /** How often a full counter table is logged. */
  counterFullLogMs: 60_000,
  /** How long, and for how many budgets, a refusal is remembered. */
  budgetRefusedMs: 3_600_000,
  budgetsRefusedMax: 10_000,
  /** How long a call waits for the spending of its budget. */
  budgetReadWaitMs: 10_000,
  /** Budgets read in one query. */
  budgetReadBatchMax: 500,
  /** Backoff after a failed read: first and longest pause. */
  budgetReadRetryMs: 250,
  budgetReadRetryMsMax: 10_000,
  /** How much earlier than its settlement an entry may be dated. */
  budgetReadSlackMs: 5_000,
  /** Entries that one read may have to distinguish; with more it is retried. */
  budgetReadEntriesMax: 50_000,
  /** Backoff for a settlement that the shared counter did not accept: first and longest pause, and tries. */
  settleRetryMs: 250,
  settleRetriesMax: 6,
  /** Timeouts of the shared counter: connect, and one command. */
  redisConnectMs: 5_000,
  redisAnswerMs: 1_000,
  /** Backoff of reconnects: first and longest pause. */
  redisRetryMs: 100,
  redisRetryMsMax: 2_000,
  /** Lifetime of what a process holds in Redis, unless it is renewed. */
  redisLeaseMs: 30_000,
  /** How often a process checks whether Redis has lost its data. */
  redisWatchMs: 200,
  /** Reservations restored in one step. */
  redisRestoreMax: 100,
  /** Finished calls and costs waiting for an unreachable Redis. */
  redisOutboxMax: 100_000,
  /** Time before a recalled share can be leased again. */
  shareRecallPauseMs: 2_000,
  /** Shares of a process. */
  sharesMax: 100_000,
  /** Assumed limit of output tokens if none is known. */
  outputTokensAssumed: 8_192,
  /** Tokens held for an image, and for a video in addition to its length. */
  pictureTokensMax: 4_096,
  /** Output tokens held for an image drawn by a hosted tool: OpenAI's largest one has 6,240. */
  drawnTokensMax: 6_500,
  /** Assumed input of a call if neither its body, the ledger nor a context window tells it. */
  contextTokensAssumed: 1_000_000,
  /** Running calls of a key that may be held at less input than the first estimate. */
  trustedHoldsMax: 8,
  /** The least output that the rest of a budget must cover for a stream to start. */
  budgetOutputTokensMin: 256,
  /** How much more output is held when a stream has used up its hold. */
  budgetStepTokens: 1_024,
  /** Fallback models of used-up budgets that a call may try, one after the other. */
  budgetFallbacksMax: 3,
} as const;
