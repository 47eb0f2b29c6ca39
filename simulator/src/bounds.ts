/** Every maximum of the simulator. Sizes in bytes, times in milliseconds. */
export const bounds = {
  headBytesMax: 64 * 1024,
  bodyBytesMax: 128 * 1024 * 1024,
  tokensMax: 1_000_000,
  choicesMax: 128,
  eventBytesMax: 16 * 1024 * 1024,
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
  embeddingsMax: 2_048,
  dimensionsMax: 8_192,
  scriptBytesMax: 256 * 1024,
  presetsMax: 1_000,
  failureCountsMax: 100_000,
  /** Attempts whose whole record stays in memory. */
  truthRecordsMax: 5_000,
  /** Attempts whose number of hits stays in memory. */
  truthIdsMax: 1_000_000,
  truthListMax: 5_000,
  /** Truth lines wait at most this long, or until this many bytes, for the file. */
  truthFlushMs: 50,
  truthFlushBytes: 256 * 1024,
} as const;
