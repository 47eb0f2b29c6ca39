/** Files. Sizes in bytes, times in milliseconds. */
export const filesBounds = {
  /** OpenAI's limit of a file. */
  fileBytesMax: 512 * 1024 * 1024,
  /** A form with one file. */
  fileFormBytesMax: 513 * 1024 * 1024,
  /** A form with one part of an upload: OpenAI's limit and the other fields. */
  filePartFormBytesMax: 65 * 1024 * 1024,
  filePartsMax: 1_000,
  /** Multiple of which Google's clients send pieces. */
  geminiPieceBytes: 256 * 1024,
  /** Files and parts that a workspace may upload at the same time, in one process. */
  fileUploadsAtOnceMax: 32,
  /** Uploads in parts that a workspace may have open. */
  filePendingUploadsMax: 100,
  /** Lifetime of an upload in parts. Source: OpenAI API reference, "Create upload". */
  fileUploadMs: 3_600_000,
  /** After this time, a file that is not complete was left by a process that died. */
  fileArrivalMs: 3_600_000,
  /** How long the row of an expired file is kept, so that callers get a clear error. */
  fileExpiredRowMs: 7 * 86_400_000,
  /** The longest wait for the removal of equal bytes, and between two looks. */
  fileRemovalWaitMs: 10_000,
  fileRemovalPollMs: 50,
  filenameCharactersMax: 255,
  /** Files that are being copied to vendors' accounts, in one process, and the longest time for one. */
  fileCopiesAtOnceMax: 32,
  fileCopiesOfWorkspaceMax: 8,
  fileCopyMs: 300_000,
  fileAnswerBytesMax: 256 * 1024,
  /** The first wait for a vendor that processes a file. */
  fileReadyPollMs: 500,
  /** A copy that expires sooner is not used. */
  fileCopySpareMs: 600_000,
  /** Attempts to delete copies of a deleted file, and the first wait between them. */
  fileCopyTriesMax: 6,
  fileCopyRetryMs: 30_000,
  /** Files that a call names; and their bytes, where they are sent inside the call. */
  namedFilesMax: 64,
  inlinedFilesBytesMax: 20 * 1024 * 1024,
  /** Guardrails check a text file in windows of this size, up to this size in all. */
  fileCheckWindowBytes: 1024 * 1024,
  fileCheckOverlapBytes: 8 * 1024,
  fileCheckBytesMax: 64 * 1024 * 1024,
} as const;
