/** Event loop delay and export of telemetry. Times in milliseconds. */
export const telemetryBounds = {
  /** Interval of measuring the event loop: with and without running calls. */
  loopSampleMs: 100,
  loopIdleSampleMs: 1_000,
  /** Window of the longest delay, and its slots. */
  loopWindowMs: 60_000,
  loopSlotMs: 10_000,
  /** Tries of an export, and its backoff: first and longest pause. */
  otlpTriesMax: 6,
  otlpPauseMs: 1_000,
  otlpPauseMsMax: 5_000,
  /** How long waiting records are exported at shutdown, all signals together. */
  otlpFlushMs: 5_000,
  /** Stored trace contexts of callers, for running calls and for tasks. */
  traceContextsMax: 20_000,
  taskTracesMax: 10_000,
  /** Calls with exported attempts that have not ended, and cached names of keys. */
  tracedCallsMax: 20_000,
  tracedKeysMax: 10_000,
  /** Series whose last export is stored, for temporality delta. */
  deltaSeriesMax: 50_000,
  /** W3C Trace Context, 3.3.1.5: at least this much of `tracestate` must be forwarded. */
  traceStateBytesMax: 512,
  /** Attempts waiting for the name of their key, which comes with the end of its first call. */
  unnamedAttemptsMax: 100,
  /** Cached sets of shared attributes: in total and per key. */
  sharedAttributesMax: 5_000,
  sharedAttributesOfGroupMax: 32,
  /** Length of an attribute. */
  traceTextMax: 1_024,
  /** Longer log lines are exported without their fields. */
  logRecordCharactersMax: 64 * 1024,
  /** Messages of one kind of a call, as JSON; and a request to the collector with messages, in bytes. */
  contentCharactersMax: 128 * 1024,
  contentRequestBytesMax: 2 * 1024 * 1024,
  /** Nesting of messages in an event; deeper ones are exported as text. */
  contentDepthMax: 32,
  /** Bodies waiting to be read, and spans waiting with messages; further ones are exported without. */
  contentReadBytesMax: 8 * 1024 * 1024,
  contentQueueBytesMax: 16 * 1024 * 1024,
  /** Calls waiting for their messages, how long after their end, and how long at shutdown. */
  contentHeldCallsMax: 2_000,
  contentWaitMs: 5_000,
  contentCloseMs: 1_000,
  /** Pause before the reader thread is restarted. */
  contentRestartMs: 5_000,
  /** Length of a collector's error in a log line. */
  collectorWordsMax: 200,
  /** Telemetry of agents waiting to be forwarded: messages of a signal, bytes in total; batch size and delay. */
  relayedMessagesMax: 500,
  relayedBytesMax: 8 * 1024 * 1024,
  relayedBatchMax: 50,
  relayedDelayMs: 1_000,
  /** Limits of one message. JSON is parsed at once. */
  relayedFieldsMax: 40_000,
  relayedResourcesMax: 1_000,
  relayedDepthMax: 32,
  relayedJsonBytesMax: 256 * 1024,
  /** After a message of this size the event loop gets a turn. */
  relayedTurnBytes: 64 * 1024,
  /** Cached email addresses of users, and for how long. */
  relayedEmailsMax: 10_000,
  relayedEmailMs: 300_000,
  collectorAnswerBytesMax: 64 * 1024,
} as const;
