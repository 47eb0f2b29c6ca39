/**
 * storage: everything kept on disk, behind the ports. `Database` holds configuration, ledger, tasks and assets. `Vault` holds the master
 * key. The journal is the write-ahead file of the ledger; the drain moves its records into the database. Blobs are on disk or in a
 * bucket. Explanations and captures are written by a thread, and dropped if it cannot keep up. Objects with the owner `file` belong to
 * the config file; those with `console` can be changed in the console and on the command line.
 * Guarantees: writes are atomic and synced to disk when they resolve (except leases and poll times). A ledger entry counts once, however
 * often it is inserted, and rollups agree with entries. Secrets are sealed and never in audit rows. A newer schema is refused. If the
 * database is locked or broken, calls reject and nothing is half done; the journal does not need it.
 */

export { checkBlobFolder as refuseOtherBlobFolder } from "./blobs/blob-folder.ts";
export { type BucketBlobStoreOptions, createBucketBlobStore } from "./blobs/bucket-blob-store.ts";
export { createBucketObjects, type ObjectStore } from "./blobs/bucket-requests.ts";
export { createDiskBlobStore } from "./blobs/disk-blob-store.ts";
export { openBroadcast } from "./broadcast/broadcast.ts";
export { auditEntriesAfter, pruneAudit, type TailedAuditEntry } from "./changes/audit-log.ts";
export { type ChangeFeed, createChangeFeed } from "./changes/change-feed.ts";
export type { Database } from "./database/database.ts";
export { openDatabaseClock } from "./database/database-clock.ts";
export { type DatabasePlace, openPlace, placeLabel as shownPlace } from "./database/database-place.ts";
export { migrate, schemaState } from "./database/migrate.ts";
export { openDatabase } from "./database/open-database.ts";
export { checkDatabasePresent as refuseLostDatabase, dataPaths, prepareDataDirectory } from "./disk/data-directory.ts";
export { settingAside } from "./disk/drain-set-aside.ts";
export { startDrain } from "./drain/drain-thread.ts";
export { ExplainQueue, type ExplainWriter } from "./explain/explain-queue.ts";
export { createExplainStore } from "./explain/explain-rows.ts";
export { createDayCloser, createFocusStore } from "./focus/focus-store.ts";
export { FileJournal } from "./journal/journal.ts";
export {
  abandonedJournals,
  type JournalDirectory,
  openJournalDirectory,
  openJournalSlot,
  readJournal,
} from "./journal/journal-slots.ts";
export { createOpenAttemptStore, type OpenAttemptStore } from "./journal/open-attempt-store.ts";
export { RemoteJournal } from "./journal/remote-journal.ts";
export { createInstances, createLeases, createSharedFacts, type Instances, type SharedFacts } from "./leases/leases.ts";
export { countNotInLedger, createLedgerStore } from "./ledger/ledger-store.ts";
export { createUpstreamObjectStore } from "./ledger/upstream-objects.ts";
export { createExportedHours, type ExportedHour, type ExportedHours } from "./ledger-export/exported-hours.ts";
export { createLedgerReader, type LedgerReader } from "./ledger-export/ledger-reader.ts";
export { moveOver, openPostgres, postgresFacts } from "./loaded-late.ts";

export { createReportStore, openReports } from "./reports/report-store.ts";
export { createSpool } from "./spool/spool.ts";
export { openStaticFiles, type StaticRoot } from "./static/static-files.ts";
export { createDatabaseTries } from "./tries/database-tries.ts";
export { backupDatabase, restoreDatabase } from "./upkeep/backup.ts";
export { integrityFaults } from "./upkeep/integrity.ts";
export { refuseMoved } from "./upkeep/moved-mark.ts";
export { bringUpToDate, openInstallation } from "./upkeep/open-installation.ts";
export { resealAll as sealAllAgain } from "./upkeep/reseal-all.ts";
export { watchDatabase } from "./upkeep/watch-database.ts";
export { FirstSecrets } from "./vault/first-secrets.ts";
export { givenMasterKey, keptKeyFiles, newMasterKey, replaceKeyFile } from "./vault/master-key.ts";
export { hashPassword, passwordMatches } from "./vault/password.ts";
export {
  addMasterKey,
  confirmVault,
  type DatabaseVault,
  hasVault,
  masterKeyAddedAt,
  openVault,
  openVaultOf,
  retireMasterKeys,
  SealBroken,
} from "./vault/vault.ts";
