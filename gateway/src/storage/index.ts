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

export { type AssetStoreOptions, createAssetStore } from "./assets/asset-store.ts";
export { type BucketBlobStoreOptions, createBucketBlobStore } from "./blobs/bucket-blob-store.ts";
export { createDiskBlobStore, type DiskBlobStoreOptions } from "./blobs/disk-blob-store.ts";
export { type ChangeFeedOptions, createChangeFeed } from "./changes/change-feed.ts";
export type { ControlOptions } from "./control/config-file/apply-config.ts";
export { kindConflicts } from "./control/config-file/apply-providers.ts";
export { ConfigConflict } from "./control/config-file/config-conflict.ts";
export { createControlStore } from "./control/control-store.ts";
export { closeDatabase, type Database } from "./database/database.ts";
export { migrate, type SchemaState, SchemaTooNew, schemaState } from "./database/migrate.ts";
export { type DatabaseOptions, openDatabase } from "./database/open-database.ts";
export {
  type DataPaths,
  DataUnusable,
  dataPaths,
  prepareDataDirectory,
  refuseEmptyBeside,
  refuseLostDatabase,
} from "./disk/data-directory.ts";
export { type DrainThreadOptions, startDrain } from "./drain/drain-thread.ts";
export { createExplainer, type ExplainerOptions, type KeptExplainer } from "./explain/explain-queue.ts";
export { createExplainStore } from "./explain/explain-store.ts";
export { createJournal, type JournalOptions } from "./journal/journal.ts";
export { type JournalDirectory, openJournalDirectory, readJournal } from "./journal/journal-directory.ts";
export type { JournalDrain } from "./journal/journal-drain.ts";
export { createLedgerStore } from "./ledger/ledger-store.ts";
export { createNoticeStore, type NoticeStoreOptions } from "./notices/notice-store.ts";
export { FirstSecrets } from "./people/first-secrets.ts";
export { hashPassword, passwordMatches } from "./people/password.ts";
export { createPeopleStore } from "./people/people-store.ts";
export type { PeopleOptions } from "./people/people-write.ts";
export { createReportStore, type ReportStoreOptions } from "./reports/report-store.ts";
export { createSpool, type SpoolOptions } from "./spool/spool-files.ts";
export { openStaticFiles, type StaticRoot } from "./static/static-files.ts";
export { createTaskStore, type TaskStoreOptions } from "./tasks/task-store.ts";
export { backupDatabase } from "./upkeep/backup-file.ts";
export { type DatabaseWatch, type DatabaseWatchOptions, watchDatabase } from "./upkeep/database-watch.ts";
export { integrityFaults } from "./upkeep/integrity.ts";
export { type Restored, type RestoreOptions, restoreDatabase } from "./upkeep/restore-database.ts";
export { type Upgrade, upgradeDatabase } from "./upkeep/upgrade-database.ts";
export { confirmVault, hasVault, openVault, refuseOtherVault, SealBroken, type VaultOptions } from "./vault/vault.ts";
