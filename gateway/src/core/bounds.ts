/** Every maximum of the gateway, in one place. Sizes in bytes, times in milliseconds. */
export const bounds = {
  /** A request body; larger is 413. Base64 images make big chats: 64 MiB carries twenty photographs. */
  requestBodyBytesMax: 64 * 1024 * 1024,
  /** Silence while a caller sends its body; longer is 408. */
  requestBodyIdleMs: 30_000,
  requestBodyTotalMs: 300_000,
  /** Nesting of a JSON body. Vendors stop far below it; a bomb stops here. */
  jsonDepthMax: 128,
  /** A model name; longer cannot exist. */
  modelNameBytesMax: 256,
  /** A whole (not streamed) upstream answer that is held to read its usage. */
  replyBytesMax: 64 * 1024 * 1024,
  /** What is kept of an upstream's error body. */
  errorBodyBytesMax: 256 * 1024,
  /** One SSE event; a larger one ends the stream with an error. */
  eventBytesMax: 1024 * 1024,
  /** A credential in a header. */
  credentialBytesMax: 512,
  /** Silence towards the caller after which a keep-alive comment is sent. */
  keepAliveMs: 15_000,
  /** Cached callers; least recently used leave first. */
  keyCacheEntriesMax: 50_000,
  /** Cached unknown keys, so that a guesser costs no database read. */
  unknownKeyEntriesMax: 10_000,
  unknownKeyMs: 10_000,
  /** Attempts for one call, over all deployments. */
  attemptsMax: 4,
  /** Longest time one call waits for a Retry-After before it tries again. */
  retryAfterMsMax: 10_000,
  /** Counters kept in memory (scopes × limits). */
  countersMax: 1_000_000,
  /** How soon a checkpoint follows the last one in a stream. */
  checkpointMs: 1_000,
  checkpointEvents: 64,
  /** Journal: a segment is closed at this size; records wait at most this long for the disk. */
  journalSegmentBytes: 64 * 1024 * 1024,
  journalSyncMs: 50,
  /** Settle records held in memory while the journal cannot be written (a full disk). */
  journalBacklogMax: 10_000,
  journalRecordBytesMax: 256 * 1024,
  /** Rows in one database batch of the drain. */
  drainBatchMax: 500,
  /** How often the database is asked whether something changed. Keeps every change under two seconds. */
  changePollMs: 500,
  userAgentBytesMax: 256,
  tagsMax: 16,
  tagBytesMax: 128,
  rawUsageBytesMax: 8 * 1024,
  listPageMax: 1_000,
} as const;
