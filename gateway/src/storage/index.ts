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

export { createAssetStore } from "./assets/asset-store.ts";
export { type BucketBlobStoreOptions, createBucketBlobStore } from "./blobs/bucket-blob-store.ts";
export { createDiskBlobStore } from "./blobs/disk-blob-store.ts";
export { createChangeFeed } from "./changes/change-feed.ts";
export { ConfigConflict } from "./control/config-file/config-conflict.ts";
export { createControlStore } from "./control/control-store.ts";
export { kindConflicts } from "./control/providers/provider-rows.ts";
export { closeDatabase, type Database } from "./database/database.ts";
export { migrate, schemaState } from "./database/migrate.ts";
export { openDatabase } from "./database/open-database.ts";
export {
  dataPaths,
  prepareDataDirectory,
  refuseEmptyBeside,
  refuseLostDatabase,
} from "./disk/data-directory.ts";
export { startDrain } from "./drain/drain-thread.ts";
export { createExplainer, type KeptExplainer } from "./explain/explain-queue.ts";
export { createExplainStore } from "./explain/explain-store.ts";
export { createJournal } from "./journal/journal.ts";
export { type JournalDirectory, openJournalDirectory, readJournal } from "./journal/journal-directory.ts";
export { createLedgerStore } from "./ledger/ledger-store.ts";
export { createNoticeStore } from "./notices/notice-store.ts";
export { FirstSecrets } from "./people/first-secrets.ts";
export { hashPassword, passwordMatches } from "./people/password.ts";
export { createPeopleStore } from "./people/people-store.ts";
export { createReportStore } from "./reports/report-store.ts";
export { createSpool } from "./spool/spool-files.ts";
export { openStaticFiles, type StaticRoot } from "./static/static-files.ts";
export { createTaskStore } from "./tasks/task-store.ts";
export { backupDatabase } from "./upkeep/backup-file.ts";
export { watchDatabase } from "./upkeep/database-watch.ts";
export { integrityFaults } from "./upkeep/integrity.ts";
export { restoreDatabase } from "./upkeep/restore-database.ts";
export { type Upgrade, upgradeDatabase } from "./upkeep/upgrade-database.ts";
export { confirmVault, hasVault, openVault, refuseOtherVault, SealBroken } from "./vault/vault.ts";
