/**
 * storage: everything that is kept on disk, behind the ports. A `Database` holds the catalog and the ledger; the
 * `Vault` holds the master key; the journal is the write-ahead file of the ledger; the drain empties it into the
 * database. `file` objects belong to the configuration file, `console` objects to everybody else.
 *
 * Promises: a write is whole or not there, and synced when it resolves. Entries count once however often they are
 * given, and rollups never part from them. No secret is stored in the open or shown in an audit row. A schema newer
 * than this program is refused. When the database is locked or broken, calls reject and nothing is half done; the
 * journal does not need the database.
 */

export type { ControlOptions } from "./apply-config.ts";
export { kindConflicts } from "./apply-providers.ts";
export { type ChangeFeedOptions, createChangeFeed } from "./change-feed.ts";
export { ConfigConflict } from "./config-conflict.ts";
export { createControlStore } from "./control-store.ts";
export { closeDatabase, type Database } from "./database.ts";
export { type DrainThreadOptions, startDrain } from "./drain-thread.ts";
export { createJournal, type JournalOptions } from "./journal.ts";
export { type JournalDirectory, openJournalDirectory, readJournal } from "./journal-directory.ts";
export type { JournalDrain } from "./journal-drain.ts";
export { createLedgerStore } from "./ledger-store.ts";
export { migrate, type SchemaState, SchemaTooNew, schemaState } from "./migrate.ts";
export { type DatabaseOptions, openDatabase } from "./open-database.ts";
export { hashPassword, passwordMatches } from "./password.ts";
export { createSpool, type SpoolOptions } from "./spool-files.ts";
export { openStaticFiles, type StaticRoot } from "./static-files.ts";
export { confirmVault, openVault, SealBroken, type VaultOptions } from "./vault.ts";
