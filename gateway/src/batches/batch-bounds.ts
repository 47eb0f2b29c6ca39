/** Bounds of the module: as the vendors', or below. */
export const batchBounds = {
  /** Rows and bytes of one batch. */
  rowsMax: { openai: 50_000, anthropic: 100_000, gemini: 50_000 },
  bytesMax: { openai: 200 * 1024 * 1024, anthropic: 256 * 1024 * 1024, gemini: 200 * 1024 * 1024 },
  rowBytesMax: 8 * 1024 * 1024,
  resultBytesMax: 8 * 1024 * 1024,
  customIdMax: { openai: 512, anthropic: 64, gemini: 512 },
  /** Rows that a process takes at once. A process that dies gives them back when its journal is in the ledger. */
  claimRowsMax: 100,
  /** Errors that a refused batch lists. */
  errorsMax: 100,
  /** Batches of one workspace that have not ended. */
  openMax: 200,
  /** Batches that are being created, of one workspace and in all. */
  acceptingOfWorkspaceMax: 4,
  acceptingMax: 16,
  /** How long rows may run after the creation. */
  windowMs: { openai: 24 * 3_600_000, anthropic: 24 * 3_600_000, gemini: 48 * 3_600_000 },
  /** How long a result is stored after the creation. */
  retentionMs: 29 * 24 * 3_600_000,
} as const;
