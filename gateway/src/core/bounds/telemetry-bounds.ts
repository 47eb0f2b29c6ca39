/** The loop's delay, and export of telemetry. Times in milliseconds. */
export const telemetryBounds = {
  /** How often it is looked whether the event loop is late: with calls under way, and without. */
  loopLookMs: 100,
  loopIdleLookMs: 1_000,
  /** For how long the longest delay is told, and the parts in which it is forgotten. */
  loopWindowMs: 60_000,
  loopSlotMs: 10_000,
  /** How often an export is tried in all, and the pauses between: the first, and the longest. */
  otlpTriesMax: 6,
  otlpPauseMs: 1_000,
  otlpPauseMsMax: 5_000,
  /** How long what waits is sent for at the end, all signals together. */
  otlpFlushMs: 5_000,
  /** Calls under way whose caller's trace is remembered, and tasks whose call's is. */
  traceContextsMax: 20_000,
  taskTracesMax: 10_000,
  /** Calls whose attempts were exported before their own end; names of keys that spans are told with. */
  tracedCallsMax: 20_000,
  tracedKeysMax: 10_000,
  /** Series of metrics of which the last export is remembered, where exports tell differences. */
  metricSeriesToldMax: 50_000,
  /** W3C Trace Context, 3.3.1.5: at least so much of `tracestate` is passed on. */
  traceStateBytesMax: 512,
  /** Attempts that wait for the names of their key, which come with the end of its first call. */
  unnamedAttemptsMax: 100,
  /** Sets of attributes that many spans have alike, in all and of one key. */
  sharedAttributesMax: 5_000,
  sharedAttributesOfGroupMax: 32,
  /** One attribute's text. */
  traceTextMax: 1_024,
  /** A line of the log, as JSON, that is exported with its members; of a longer one only its words are. */
  logRecordCharactersMax: 64 * 1024,
  /** Messages of one kind of one call, as JSON; and of one request to a collector that has such, in bytes. */
  contentCharactersMax: 128 * 1024,
  contentRequestBytesMax: 2 * 1024 * 1024,
  /** How deep lists and objects of messages may lie in an event; deeper ones are told as text. */
  contentDepthMax: 32,
  /** Bodies that wait to be read, and spans that wait with messages in them; further ones go without. */
  contentReadBytesMax: 8 * 1024 * 1024,
  contentQueueBytesMax: 16 * 1024 * 1024,
  /** Calls whose spans wait for their messages, and how long they do behind the call's end, and at the end of the process. */
  contentHeldCallsMax: 2_000,
  contentWaitMs: 5_000,
  contentCloseMs: 1_000,
  /** A thread that reads them and died is started again after this. */
  contentRestartMs: 5_000,
  /** Of an answer of a collector, in a log line. */
  collectorWordsMax: 200,
  /** The telemetry of agents that waits to be passed on: messages of a signal, bytes of all, and how long for more of the same caller. */
  relayedMessagesMax: 500,
  relayedBytesMax: 8 * 1024 * 1024,
  relayedBatchMax: 50,
  relayedDelayMs: 1_000,
  /** What is looked at in one message; more is no telemetry. JSON is read at once. */
  relayedFieldsMax: 40_000,
  relayedResourcesMax: 1_000,
  relayedDepthMax: 32,
  relayedJsonBytesMax: 256 * 1024,
  /** Behind a message of so many bytes others have their turn. */
  relayedTurnBytes: 64 * 1024,
  /** Addresses of people, and how long each is gone by. */
  relayedEmailsMax: 10_000,
  relayedEmailMs: 300_000,
  /** An answer of a collector. */
  collectorAnswerBytesMax: 64 * 1024,
} as const;
