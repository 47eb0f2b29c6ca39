/** Every maximum of the simulator. Sizes in bytes, times in milliseconds. */
export const bounds = {
  headBytesMax: 64 * 1024,
  bodyBytesMax: 128 * 1024 * 1024,
  tokensMax: 1_000_000,
  choicesMax: 128,
  eventBytesMax: 40 * 1024 * 1024,
  waitMsMax: 3_600_000,
  /** Unpaced events leave together in pieces of about this size. */
  pieceBytes: 16 * 1024,
  /** What is kept of a body when a script asks for it. */
  keptBytesMax: 8 * 1024 * 1024,
  /** What the truth keeps of every body, received and sent, and of all of them together. */
  truthTextBytesMax: 64 * 1024,
  truthTextsBytesMax: 16 * 1024 * 1024,
  /** Multipart bodies. */
  partsMax: 128,
  partHeadBytesMax: 16 * 1024,
  partValueBytesMax: 64 * 1024,
  /** Events that show reasoning; the count of reasoning tokens may be larger. */
  thinkingEventsMax: 64,
  callsMax: 64,
  imagesMax: 16,
  partialImagesMax: 3,
  /** Responses kept for all accounts together. */
  storedResponsesMax: 2_000,
  /** Tasks kept for all accounts together; the oldest leave first. */
  tasksMax: 20_000,
  /** Of every text that a task keeps to tell it back, of lists in it, and of names that clients give. */
  keptTextMax: 4_096,
  keptListMax: 64,
  keptDepthMax: 8,
  clientNameMax: 256,
  urlMax: 2_048,
  /** Digests, ids and attempts whose number of creates is known. */
  taskCreatesMax: 100_000,
  taskListMax: 5_000,
  tasksPageMax: 500,
  videoBytesMax: 1024 * 1024 * 1024,
  /** A body of bytes leaves in pieces of this size. */
  bytesPiece: 64 * 1024,
  callbackCopiesMax: 10,
  /** Moments at which callbacks are due. */
  alarmsMax: 40_000,
  /** Callbacks on their way at once, and waiting for their turn; more are lost. */
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
  /** Attempts whose whole record stays in memory. */
  truthRecordsMax: 10_000,
  /** Attempts whose number of hits stays in memory. */
  truthIdsMax: 1_000_000,
  truthListMax: 10_000,
  /** Truth lines wait at most this long, or until this many bytes, for the file. */
  truthFlushMs: 50,
  truthFlushBytes: 256 * 1024,
} as const;
