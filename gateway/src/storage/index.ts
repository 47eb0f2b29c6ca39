/**
 * storage: everything that is kept on disk, behind the ports. A `Database` holds the catalog, the ledger, tasks and
 * assets; the `Vault` holds the master key; the journal is the write-ahead file of the ledger; the drain empties it into
 * the database; blobs are on disk or in a bucket. The explainer keeps, in a thread of its own, why requests went as they
 * did and what was captured of them; it drops what it cannot write in time. `file` objects belong to the configuration file, `console` ones to all.
 *
 * Promises: a write is whole or not there, and synced when it resolves (leases and times of polls excepted). Entries
 * count once however often they are given, and rollups never part from them. No secret is stored in the open or shown in an audit row. A schema newer
 * than this program is refused. When the database is locked or broken, calls reject and nothing is half done; the
 * journal does not need the database.
 */

export type { ControlOptions } from "./apply-config.ts";
export { kindConflicts } from "./apply-providers.ts";
export { type AssetStoreOptions, createAssetStore } from "./asset-store.ts";
export { backupDatabase } from "./backup-file.ts";
export { type BucketBlobStoreOptions, createBucketBlobStore } from "./bucket-blob-store.ts";
export { type ChangeFeedOptions, createChangeFeed } from "./change-feed.ts";
export { ConfigConflict } from "./config-conflict.ts";
export { createControlStore } from "./control-store.ts";
export {
  type DataPaths,
  DataUnusable,
  dataPaths,
  prepareDataDirectory,
  refuseEmptyBeside,
  refuseLostDatabase,
} from "./data-directory.ts";
export { closeDatabase, type Database } from "./database.ts";
export { type DatabaseWatch, type DatabaseWatchOptions, watchDatabase } from "./database-watch.ts";
export { createDiskBlobStore, type DiskBlobStoreOptions } from "./disk-blob-store.ts";
export { type DrainThreadOptions, startDrain } from "./drain-thread.ts";
export { createExplainer, type ExplainerOptions, type KeptExplainer } from "./explain-queue.ts";
export { createExplainStore } from "./explain-store.ts";
export { FirstSecrets } from "./first-secrets.ts";
export { integrityFaults } from "./integrity.ts";
export { createJournal, type JournalOptions } from "./journal.ts";
export { type JournalDirectory, openJournalDirectory, readJournal } from "./journal-directory.ts";
export type { JournalDrain } from "./journal-drain.ts";
export { createLedgerStore } from "./ledger-store.ts";
export { migrate, type SchemaState, SchemaTooNew, schemaState } from "./migrate.ts";
export { createNoticeStore, type NoticeStoreOptions } from "./notice-store.ts";
export { type DatabaseOptions, openDatabase } from "./open-database.ts";
export { hashPassword, passwordMatches } from "./password.ts";
export { createPeopleStore } from "./people-store.ts";
export type { PeopleOptions } from "./people-write.ts";
export { createReportStore, type ReportStoreOptions } from "./report-store.ts";
export { type Restored, type RestoreOptions, restoreDatabase } from "./restore-database.ts";
export { createSpool, type SpoolOptions } from "./spool-files.ts";
export { openStaticFiles, type StaticRoot } from "./static-files.ts";
export { createTaskStore, type TaskStoreOptions } from "./task-store.ts";
export { type Upgrade, upgradeDatabase } from "./upgrade-database.ts";
export { confirmVault, hasVault, openVault, refuseOtherVault, SealBroken, type VaultOptions } from "./vault.ts";
