/** Counting for limits, and money that is held for calls. Times in milliseconds. */
export const limitsBounds = {
  /** Counters kept in memory (limits in use × scopes). */
  countersMax: 1_000_000,
  /** How often it is told that there is no room for more. */
  counterFullTellMs: 60_000,
  /** A budget that nobody used for this long is forgotten; the ledger knows it. */
  budgetIdleMs: 3_600_000,
  /** The same when others find no room. */
  budgetIdleMsWhenFull: 5_000,
  /** Periods of one budget that are kept: the running one and those before it, for a clock that is set back. */
  budgetPeriodsKept: 4,
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
  /** After so much silence of one sentinel another is asked. */
  redisSentinelMs: 2_000,
  redisAnswerMs: 1_000,
  /** The most that one question waits while those before it are answered: who answers is behind, and not away. */
  redisBehindMs: 5_000,
  /** Such a wait is counted in so many slices, each once however late it ends: while our own loop stands still nobody is judged. */
  waitSlices: 4,
  /** The waits until one that is away is asked again: the first, doubled each time up to the last. */
  redisRetryMs: 100,
  redisRetryMsMax: 2_000,
  /** It is told at most so often that one does not answer. */
  redisTellMs: 10_000,
  /** What a process holds there lapses when the process has not renewed it for so long, and how often it does. */
  redisLeaseMs: 30_000,
  redisRenewMs: 5_000,
  /** How often a process looks whether the counter has lost its data: the others wait until it has told what it holds. */
  redisWatchMs: 200,
  /** What a call used is remembered for the longest window; its entry is in the journal so soon after. */
  redisUsesKeptMs: 63_000,
  redisStoredSlackMs: 1_000,
  /** How long money of a dead process stays held when nobody takes over its journal. */
  redisMoneyMs: 1_800_000,
  /** How long a process remembers what it has set aside there for a task, which may not be stored yet. */
  redisLastingMs: 60_000,
  /**
   * How long one process may take to tell an empty one what the ledger knows; how soon its lock is another's when it is not heard of;
   * and how often the others look meanwhile.
   */
  redisSeedMs: 30_000,
  redisSeedLockMs: 4_000,
  redisSeedLookMs: 100,
  /** Reservations that are told anew in one step. */
  redisRestoreMax: 100,
  /** Endings and costs that wait for one that is away. */
  redisOutboxMax: 100_000,
  /** Operations in one message; others wait for the server as long as it takes. */
  redisMessageMax: 32,
  /** Limits that are leased in shares have at least so many times what a call takes; a share is to last for so long. */
  shareCallsPerLimitMin: 20,
  shareAheadMs: 1_000,
  /** How often the shared counter is told what shares were used for, and how soon again when one is nearly used up. */
  shareTellMs: 250,
  shareTellMsMin: 10,
  /** Nobody is leased any of what was just recalled for so long; who did not answer a recall is not waited for again for so long. */
  shareRecallPauseMs: 2_000,
  shareDeafMs: 5_000,
  /** A share is not used for this long before its lease ends: clocks run differently. */
  shareLeaseMarginMs: 2_000,
  /** What was heard of a tally so long ago still tells whether a call has a chance. */
  shareGlanceMs: 1_000,
  /** Shares of one process; those that nobody used for so long are forgotten. Costs that wait to be told with one. */
  sharesMax: 100_000,
  shareIdleMs: 60_000,
  shareCostsMax: 10_000,
  /** Seconds that one question for recalls waits. */
  shareInboxS: 30,
  /** The wall clock is taken to have been set when it moves this much otherwise than time passes … */
  clockJumpMs: 5_000,
  /** … and is believed again when it stays so for this long. */
  clockTrustMs: 600_000,
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
