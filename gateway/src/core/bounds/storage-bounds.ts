/** The database. Sizes in bytes, times in milliseconds. */
export const storageBounds = {
  /** PostgreSQL: connections of a process for writing, and the same number for reading. */
  postgresPoolSize: 5,
  /** How often a process pings PostgreSQL. */
  postgresPingMs: 2_000,
  /** Timeout of a migration, including the wait for another process that migrates. */
  postgresMigrationMs: 3_600_000,
  /** How long `sluice doctor` waits for the blob store. */
  doctorBlobsMs: 15_000,
} as const;
