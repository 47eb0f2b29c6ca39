import type { Database } from "../database/database.ts";
import { type DatabasePlace, openPlace } from "../database/database-place.ts";
import { schemaState } from "../database/migrate.ts";
import {
  checkDatabasePresent,
  checkEmptyDatabase,
  checkEmptyServerDatabase,
  type DataPaths,
  prepareDataDirectory,
} from "../disk/data-directory.ts";
import { confirmVault, hasVault, openVaultOf } from "../vault/vault.ts";
import { refuseHalfMoved, refuseMoved } from "./moved-mark.ts";
import { type Upgrade, upgradeDatabase, upgradePostgres } from "./upgrade-database.ts";

export interface InstallationOptions {
  readonly place: DatabasePlace;
  readonly paths: DataPaths;
  /** As in VaultOptions. */
  readonly masterKey: string | null;
  /** Unix milliseconds. */
  readonly now: number;
  /** This process has locked the data directory, so it may upgrade the database. */
  readonly held: boolean;
}

/**
 * Opens database and vault, and upgrades the schema. Throws in one line if the database is of a later version, has another master key, or
 * is missing; nothing is created then.
 */
export async function openInstallation(options: InstallationOptions) {
  const { place, paths, masterKey } = options;
  prepareDataDirectory(paths.dataDir);
  if (place.kind === "sqlite") refuseUnfitFile(paths);
  const database = await openPlace(place);
  try {
    if ((await schemaState(database)).state === "empty") {
      if (place.kind === "sqlite") checkEmptyDatabase(paths);
      else checkEmptyServerDatabase(paths);
    } else if (place.kind === "postgres") await refuseHalfMoved(database);
    // The vault first, so that a database that cannot be opened is not changed. A new key is created last, so that a failed first start
    // does not look like an installation.
    const hadVault = await hasVault(database);
    const openKey = () => openVaultOf(database, { masterKey, dataDir: paths.dataDir, mayMakeKey: !hadVault });
    if (hadVault) await openKey();
    const upgrade = await upgraded(database, options);
    const vault = await openKey();
    await confirmVault(database, vault);
    return { database, vault, upgrade };
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}

/** Upgrades the schema without the master key. */
export async function bringUpToDate(
  options: Pick<InstallationOptions, "place" | "paths" | "now"> & { readonly copyFirst: boolean },
): Promise<Upgrade & { readonly applied: readonly string[] }> {
  const { place, paths } = options;
  prepareDataDirectory(paths.dataDir);
  if (place.kind === "sqlite") refuseUnfitFile(paths);
  const database = await openPlace(place);
  try {
    const upgrade = await upgraded(database, { ...options, held: false });
    return { ...upgrade, applied: (await schemaState(database)).applied };
  } finally {
    await database.close();
  }
}

function refuseUnfitFile(paths: DataPaths): void {
  refuseMoved(paths);
  checkDatabasePresent(paths);
}

async function upgraded(
  database: Database,
  { place, ...options }: Omit<InstallationOptions, "masterKey"> & { readonly copyFirst?: boolean },
): Promise<Upgrade> {
  if (place.kind === "postgres") return await upgradePostgres(database, place.url.reveal());
  return await upgradeDatabase(database, options);
}
