/** Looking after the database's file. Sizes in bytes, times in milliseconds. */
export const storageBounds = {
  /** A database up to this size is checked before the port opens; a larger one in a thread, from then on. */
  databaseStartCheckBytesMax: 32 * 1024 * 1024,
  /** How often all of it is checked: so long after the last check, and so many times as long as that one took. */
  databaseCheckMs: 3_600_000,
  databaseCheckRest: 50,
  /** A check that takes longer is given up. Between two tables it rests a little. */
  databaseCheckMsMax: 1_800_000,
  databaseCheckPauseMs: 50,
  /** How often it is looked whether the files are still those that were opened. */
  databaseFilesMs: 2_000,
  /** `sluice doctor` compares every index with its table up to this size; beyond, it checks pages only. */
  doctorWholeCheckBytesMax: 1024 * 1024 * 1024,
} as const;
