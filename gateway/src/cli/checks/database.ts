import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { bounds } from "#core/index.ts";
import {
  closeDatabase,
  type Database,
  dataPaths,
  integrityFaults,
  openDatabase,
  openVaultOf,
  refuseLostDatabase,
  refuseMoved,
  schemaState,
} from "#storage/index.ts";
import { failureLine } from "../failure-line.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";
import { postgresFindings } from "./postgres.ts";

/** The database opens, its schema is of this version, and the master key is the one it was made with. */
export const databaseCheck: Check = async ({ environment, clock }) => {
  const path = join(environment.dataDir, "sluice.db");
  if (environment.databaseUrl !== null) {
    return await postgresFindings(environment, environment.databaseUrl.reveal(), clock);
  }
  try {
    refuseMoved(dataPaths(environment.dataDir));
    refuseLostDatabase(dataPaths(environment.dataDir));
  } catch (thrown) {
    return [fail("database", failureLine(thrown), "no start is possible before that")];
  }
  if (!existsSync(path)) return [ok("database", "will be made at the first start")];
  let database: Database;
  try {
    database = openDatabase({ path, create: false });
  } catch (thrown) {
    return [fail("database", failureLine(thrown), "check the owner of the file, or restore a backup")];
  }
  try {
    const { state, applied, pending, unknown } = await schemaState(database);
    const later = `a later version has been here (${unknown.join(", ")})`;
    if (state === "newer") {
      return [fail("database", later, "start that version, or restore a backup from before it")];
    }
    if (state === "empty" || state === "behind") {
      return [warn("database", `migrations to run: ${pending.join(", ")}`, "run `sluice migrate`, or just start")];
    }
    return [
      await soundness(database, path),
      state === "ahead"
        ? warn("database", `${later} and has only added to it`, "start that version when you can")
        : ok("database", `schema ${applied.at(-1) ?? "empty"}`),
      await keyFits(database, environment.masterKey?.reveal() ?? null, environment.dataDir),
    ];
  } catch (thrown) {
    return [fail("database", failureLine(thrown), "restore a backup")];
  } finally {
    await closeDatabase(database);
  }
};

/** All of it, which takes as long as the file is large. */
async function soundness(database: Database, path: string): Promise<Finding> {
  const name = "database pages";
  const depth = (await stat(path)).size > bounds.doctorWholeCheckBytesMax ? "quick" : "whole";
  const [fault] = await integrityFaults(database.kysely, depth);
  if (fault === undefined) return ok(name, depth === "whole" ? "sound, indexes too" : "sound");
  return fail(name, `damaged: ${fault}`, "stop the gateway and restore a backup (sluice restore <file>)");
}

async function keyFits(database: Database, masterKey: string | null, dataDir: string): Promise<Finding> {
  const name = "master key fits";
  if (masterKey === null && !existsSync(join(dataDir, "master.key"))) {
    const advice = "restore master.key from a backup: without it no key is known and no provider secret can be opened";
    return fail(name, "the database is there, its key file is not", advice);
  }
  try {
    await openVaultOf(database, { masterKey, dataDir, mayMakeKey: false });
    return ok(name, "the database was made with it");
  } catch (thrown) {
    return fail(name, failureLine(thrown), "start with the key that belongs to this database");
  }
}
