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
  databaseFilesMs: 5_000,
  /** `sluice doctor` compares every index with its table up to this size; beyond, it checks pages only. */
  doctorWholeCheckBytesMax: 1024 * 1024 * 1024,
  /** PostgreSQL: connections that a process has for writing at most, and as many for reading; how many may be asked for. */
  postgresPoolSize: 5,
  postgresPoolSizeMax: 100,
  /** How long a call waits for a connection, a new one or a free one. */
  postgresConnectMs: 10_000,
  postgresConnectMsMax: 120_000,
  /** A statement that takes longer is ended by the server; so much later the connection is cut, for a server that is silent. */
  postgresStatementMs: 30_000,
  postgresStatementMsMax: 3_600_000,
  postgresSilenceMs: 5_000,
  /** A transaction in which nothing happens for so long is ended by the server, and with it what it has locked. */
  postgresIdleTransactionMs: 60_000,
  /** A connection that nobody uses is closed. */
  postgresIdleMs: 60_000,
  /** How long the end of a process waits for statements under way, and then for their connections to close. */
  postgresEndMs: 4_000,
  postgresCutMs: 500,
  /** How often a process asks whether the server answers, and how long it waits for that before nobody else waits. */
  postgresPingMs: 2_000,
  postgresPingMsMax: 4_000,
  /** Beyond that, in real time: a process that was busy may not have read an answer that has come. */
  postgresPingReadMs: 1_000,
  /** An installation that is moved into PostgreSQL: rows and bytes of one statement, about. */
  moveRowsMax: 2_000,
  moveBytes: 4 * 1024 * 1024,
  /** A migration, with the wait for another process that migrates. */
  postgresMigrationMs: 3_600_000,
  /** What fails at each of its tries is told again so often, while it lasts. */
  faultTellMs: 10 * 60_000,
  /** How long `sluice doctor` waits for all that it asks of where blobs are kept. */
  doctorBlobsMs: 15_000,
} as const;
