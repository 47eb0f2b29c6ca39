/** Looking after the database's file. Sizes in bytes, times in milliseconds. */
export const storageBounds = {
  /** PostgreSQL: the connections of a process for writing, and as many for reading. */
  postgresPoolSize: 5,
  /** How often a process pings PostgreSQL. */
  postgresPingMs: 2_000,
  /** A migration, with the wait for another process that migrates. */
  postgresMigrationMs: 3_600_000,
  /** How long `sluice doctor` waits for all that it asks of where blobs are kept. */
  doctorBlobsMs: 15_000,
} as const;
