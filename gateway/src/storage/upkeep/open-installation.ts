import type { Database } from "../database/database.ts";
import { type DatabasePlace, openPlace } from "../database/database-place.ts";
import { schemaState } from "../database/migrate.ts";
import {
  type DataPaths,
  prepareDataDirectory,
  refuseEmptyBeside,
  refuseEmptyServerBeside,
  refuseLostDatabase,
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
  /** This process holds the data directory: it may bring a database up to date that others would have to leave alone. */
  readonly held: boolean;
}

/**
 * Opens database and vault, and brings the schema up to date. Throws in one line when the database is of a later version, belongs
 * to another master key, or is not where it was; then nothing was made.
 */
export async function openInstallation(options: InstallationOptions) {
  const { place, paths, masterKey } = options;
  prepareDataDirectory(paths.dataDir);
  if (place.kind === "sqlite") refuseUnfitFile(paths);
  const database = await openPlace(place);
  try {
    if ((await schemaState(database)).state === "empty") {
      if (place.kind === "sqlite") refuseEmptyBeside(paths);
      else refuseEmptyServerBeside(paths);
    } else if (place.kind === "postgres") await refuseHalfMoved(database);
    // The key before the schema: what cannot be opened is not changed. A new key only when all else is there, so that
    // a first start that fails in the middle leaves nothing that looks like an earlier installation.
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

/** The schema alone, without a look at the vault: before a start, or by somebody who has no key. */
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
  refuseLostDatabase(paths);
}

async function upgraded(
  database: Database,
  { place, ...options }: Omit<InstallationOptions, "masterKey"> & { readonly copyFirst?: boolean },
): Promise<Upgrade> {
  if (place.kind === "postgres") return await upgradePostgres(database, place.url.reveal());
  return await upgradeDatabase(database, options);
}
