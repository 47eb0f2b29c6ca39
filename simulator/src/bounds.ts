/** All limits of the simulator. Sizes in bytes, times in milliseconds. */
export const bounds = {
  headBytesMax: 64 * 1024,
  bodyBytesMax: 128 * 1024 * 1024,
  tokensMax: 1_000_000,
  choicesMax: 128,
  eventBytesMax: 40 * 1024 * 1024,
  waitMsMax: 3_600_000,
  /** Events without a pace are sent together in chunks of about this size. */
  pieceBytes: 16 * 1024,
  /** How much of a body is stored if a script asks for it. */
  storedBytesMax: 8 * 1024 * 1024,
  /** How much text is stored per body (received and sent), and of all bodies together. */
  truthTextBytesMax: 64 * 1024,
  truthTextsBytesMax: 16 * 1024 * 1024,
  /** Limits of multipart bodies. */
  partsMax: 128,
  partHeadBytesMax: 16 * 1024,
  partValueBytesMax: 64 * 1024,
  /** The maximum of events that show reasoning; there may be more reasoning tokens. */
  thinkingEventsMax: 64,
  callsMax: 64,
  imagesMax: 16,
  partialImagesMax: 3,
  /** Stored responses of all accounts together. */
  storedResponsesMax: 2_000,
  /** Tasks of all accounts together; the oldest are dropped first. */
  tasksMax: 20_000,
  /** Limits of the texts and lists that a task stores, and of names that clients set. */
  storedTextMax: 4_096,
  storedListMax: 64,
  storedDepthMax: 8,
  clientNameMax: 256,
  urlMax: 2_048,
  /** Digests, ids and attempts for which creates are counted. */
  taskCreatesMax: 100_000,
  taskListMax: 5_000,
  tasksPageMax: 500,
  videoBytesMax: 1024 * 1024 * 1024,
  /** Files are sent in chunks of this size. */
  bytesPiece: 64 * 1024,
  callbackCopiesMax: 10,
  /** Scheduled callbacks. */
  alarmsMax: 40_000,
  /** Callbacks in flight and waiting; more are dropped. */
  callbacksInFlightMax: 64,
  callbacksWaitingMax: 10_000,
  callbackTriesMax: 3,
  callbackWaitMs: 5_000,
  assetGroupsMax: 5_000,
  assetsMax: 20_000,
  assetsPageMax: 100,
  livenessSessionsMax: 1_000,
  embeddingsMax: 2_048,
  dimensionsMax: 8_192,
  scriptBytesMax: 256 * 1024,
  presetsMax: 1_000,
  failureCountsMax: 100_000,
  /** Attempts with a complete record in memory. */
  truthRecordsMax: 10_000,
  /** Attempts with a request count in memory. */
  truthIdsMax: 1_000_000,
  truthListMax: 10_000,
  /** Records are written to the file after this time or this many bytes. */
  truthFlushMs: 50,
  truthFlushBytes: 256 * 1024,
} as const;
