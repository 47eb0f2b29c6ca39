import { join } from "node:path";
import type { Environment } from "#config/index.ts";
import type { Clock, ControlStore, Ids, LedgerStore, PeopleStore, Vault } from "#ports/index.ts";
import {
  closeDatabase,
  confirmVault,
  createControlStore,
  createLedgerStore,
  createPeopleStore,
  type Database,
  migrate,
  openDatabase,
  openVault,
} from "#storage/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { kindDefaults } from "./kind-check.ts";

/** The control side of the house: what one-shot commands need, and what the server is built upon. */
export interface Control {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly database: Database;
  readonly controlStore: ControlStore;
  readonly ledgerStore: LedgerStore;
  readonly people: PeopleStore;
  readonly databasePath: string;
  readonly journalPath: string;
  close(): Promise<void>;
}

/** Opens vault and database, and brings the schema up to date. Throws when the database is of a later version. */
export async function openControl(environment: Environment): Promise<Control> {
  if (environment.databaseUrl !== null) {
    throw new Error("SLUICE_DATABASE_URL is set, but this version keeps its data in SQLite only. Unset it.");
  }
  if (environment.redisUrl !== null) {
    throw new Error("SLUICE_REDIS_URL is set, but this version counts in one process only. Unset it.");
  }
  const clock = systemClock;
  const ids = createIds(clock);
  const vault = openVault({ masterKey: environment.masterKey?.reveal() ?? null, dataDir: environment.dataDir });
  const databasePath = join(environment.dataDir, "sluice.db");
  const database = openDatabase({ path: databasePath });
  try {
    await migrate(database);
    await confirmVault(database, vault);
  } catch (thrown) {
    await closeDatabase(database);
    throw thrown;
  }
  return {
    clock,
    ids,
    vault,
    database,
    controlStore: createControlStore({ database, vault, ids, clock, kindDefaults }),
    ledgerStore: createLedgerStore(database),
    people: createPeopleStore({ database, clock, ids }),
    databasePath,
    journalPath: join(environment.dataDir, "journal"),
    close: () => closeDatabase(database),
  };
}
