/** Counting for limits, and money that is held for calls. Times in milliseconds. */
export const limitsBounds = {
  /** How often it is told that there is no room for more. */
  counterFullTellMs: 60_000,
  /** How long it is remembered that a budget refused a call, and of how many budgets. */
  budgetRefusedMs: 3_600_000,
  budgetsRefusedMax: 10_000,
  /** How long a call waits until it is known what its budget has spent. */
  budgetReadWaitMs: 10_000,
  /** Budgets whose spending is asked for at once. */
  budgetReadBatchMax: 500,
  /** The waits after a reading that failed: the first, doubled each time up to the last. */
  budgetReadRetryMs: 250,
  budgetReadRetryMsMax: 10_000,
  /** An entry may bear a time this much earlier than the moment it was settled at. */
  budgetReadSlackMs: 5_000,
  /** Entries that one reading may have to tell apart; with more it is tried again. */
  budgetReadEntriesMax: 50_000,
  /** The waits before a settlement is told again that a shared counter did not take: the first, doubled each time; so often. */
  settleRetryMs: 250,
  settleRetriesMax: 6,
  /** How long a shared counter may take to be connected, and to answer one question. */
  redisConnectMs: 5_000,
  redisAnswerMs: 1_000,
  /** The waits until one that is away is asked again: the first, doubled each time up to the last. */
  redisRetryMs: 100,
  redisRetryMsMax: 2_000,
  /** What a process holds in Redis lapses unless it is renewed within this. */
  redisLeaseMs: 30_000,
  /** How often a process looks whether the counter has lost its data: the others wait until it has told what it holds. */
  redisWatchMs: 200,
  /** Reservations that are told anew in one step. */
  redisRestoreMax: 100,
  /** Endings and costs that wait for one that is away. */
  redisOutboxMax: 100_000,
  /** What was just recalled is leased to nobody for this long. */
  shareRecallPauseMs: 2_000,
  /** Shares of one process. */
  sharesMax: 100_000,
  /** What a model may at most answer when nobody says it. */
  outputTokensAssumed: 8_192,
  /** The input that a picture is held at, and a film beside its length, in tokens. */
  pictureTokensMax: 4_096,
  /** The output that a picture is held at which a hosted tool draws: OpenAI's largest of high quality has 6,240 tokens. */
  drawnTokensMax: 6_500,
  /** What a call brings as input that neither its body nor the ledger tells, for models whose context window is not known. */
  contextTokensAssumed: 1_000_000,
  /** Calls of one key in flight in this process that may be held at less input than the first guess. */
  trustedHoldsMax: 8,
  /** The least output that must be paid for before a stream begins on what is left of a budget. */
  budgetOutputTokensMin: 256,
  /** How much more output is held at once for a stream that has used up what was held for it. */
  budgetStepTokens: 1_024,
} as const;
