import type { Environment } from "#config/index.ts";
import type { Clock, ControlStore, Ids, LedgerStore, PeopleStore, Vault } from "#ports/index.ts";
import {
  closeDatabase,
  confirmVault,
  createControlStore,
  createLedgerStore,
  createPeopleStore,
  type Database,
  dataPaths,
  hasVault,
  openDatabase,
  openVault,
  prepareDataDirectory,
  refuseEmptyBeside,
  refuseLostDatabase,
  refuseOtherVault,
  schemaState,
  type Upgrade,
  upgradeDatabase,
} from "#storage/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { kindDefaults } from "./kind-check.ts";

/** The control side of the gateway: what one-shot commands need, and what the server is built upon. */
export interface Control {
  /** The id of this process: `proc_…`. */
  readonly instanceId: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly database: Database;
  readonly controlStore: ControlStore;
  readonly ledgerStore: LedgerStore;
  readonly people: PeopleStore;
  readonly databasePath: string;
  readonly journalPath: string;
  /** What was done to bring the database up to this version. */
  readonly upgrade: Upgrade;
  close(): Promise<void>;
}

export interface ControlOptions {
  /** This process holds the data directory: it may bring a database up to date that others would have to leave alone. */
  readonly held?: boolean;
}

/**
 * Opens vault and database, and brings the schema up to date. Throws when the database is of a later version, and
 * DataUnusable when the data directory is not as it must be; then nothing was made in it.
 */
export async function openControl(environment: Environment, options: ControlOptions = {}): Promise<Control> {
  if (environment.databaseUrl !== null) {
    throw new Error("SLUICE_DATABASE_URL is set, but this version keeps its data in SQLite only. Unset it.");
  }
  const clock = systemClock;
  const ids = createIds(clock);
  const paths = dataPaths(environment.dataDir);
  prepareDataDirectory(paths.dataDir);
  refuseLostDatabase(paths);
  const database = openDatabase({ path: paths.database });
  let vault: Vault;
  let upgrade: Upgrade;
  try {
    if ((await schemaState(database)).state === "empty") refuseEmptyBeside(paths);
    // The key before the schema: what cannot be opened is not changed. A new key only when all else is there, so that
    // a first start that fails in the middle leaves nothing that looks like an earlier installation.
    const hadVault = await hasVault(database);
    const openKey = () =>
      openVault({ masterKey: environment.masterKey?.reveal() ?? null, dataDir: paths.dataDir, mayMakeKey: !hadVault });
    if (hadVault) await refuseOtherVault(database, openKey());
    upgrade = await upgradeDatabase(database, { paths, now: clock.now(), held: options.held === true });
    vault = openKey();
    await confirmVault(database, vault);
  } catch (thrown) {
    await closeDatabase(database);
    throw thrown;
  }
  return {
    instanceId: ids.next("proc_"),
    clock,
    ids,
    vault,
    database,
    controlStore: createControlStore({ database, vault, ids, clock, kindDefaults }),
    ledgerStore: createLedgerStore(database),
    people: createPeopleStore({ database, clock, ids }),
    databasePath: paths.database,
    journalPath: paths.journal,
    upgrade,
    close: () => closeDatabase(database),
  };
}
