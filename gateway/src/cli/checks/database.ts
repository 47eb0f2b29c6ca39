import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "#config/index.ts";
import { listProcesses, placeOf } from "#main.ts";
import type { Clock } from "#ports/index.ts";
import {
  createInstances,
  createLeases,
  type Database,
  dataPaths,
  hasVault,
  integrityFaults,
  openDatabase,
  openPlace,
  openVaultOf,
  postgresFacts,
  refuseLostDatabase,
  refuseMoved,
  schemaState,
} from "#storage/index.ts";
import { failureLine } from "../failure-line.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

/** Up to this size every index is compared with its table; beyond, only pages are checked. */
const doctorWholeCheckBytesMax = 1024 * 1024 * 1024;

/** Checks that the database opens, its schema fits this version, and the master key is right. */
export const databaseCheck: Check = async ({ environment, clock }) => {
  if (environment.databaseUrl !== null) {
    return await postgresFindings(environment, environment.databaseUrl.reveal(), clock);
  }
  const paths = dataPaths(environment.dataDir);
  try {
    refuseMoved(paths);
    refuseLostDatabase(paths);
  } catch (thrown) {
    return [fail("database", failureLine(thrown), "fix this before starting")];
  }
  if (!existsSync(paths.database)) return [ok("database", "will be created at the first start")];
  let database: Database;
  try {
    database = openDatabase({ path: paths.database, create: false });
  } catch (thrown) {
    return [fail("database", failureLine(thrown), "check the owner of the file, or restore a backup")];
  }
  return await contentFindings(environment, database, {
    inspect: async () => [await soundness(database, paths.database)],
    advice: "restore a backup",
  });
};

/** Takes longer for larger files. */
async function soundness(database: Database, path: string): Promise<Finding> {
  const name = "database pages";
  const depth = (await stat(path)).size > doctorWholeCheckBytesMax ? "quick" : "whole";
  const [fault] = await integrityFaults(database.kysely, depth);
  if (fault === undefined) return ok(name, depth === "whole" ? "intact, including indexes" : "intact");
  return fail(name, `damaged: ${fault}`, "stop the gateway and restore a backup (sluice restore <file>)");
}

/** Budgets and keys use the clocks of the processes, leases the server's clock. */
const differenceMsMax = 10_000;

/** Checks the server, its clock and connections, the schema and the master key. */
async function postgresFindings(environment: Environment, url: string, clock: Clock): Promise<readonly Finding[]> {
  const requestedAt = clock.now();
  let facts: Awaited<ReturnType<typeof postgresFacts>>;
  try {
    facts = await postgresFacts(url);
  } catch (thrown) {
    return [fail("database", failureLine(thrown), "see SLUICE_DATABASE_URL; fix this before starting")];
  }
  const answeredAt = clock.now();
  const { version, place, encrypted, serverTime } = facts;
  const database = await openPlace(placeOf(environment), { isChecked: true, poolSize: 1 });
  const how = `${encrypted ? "encrypted" : "not encrypted"}, ${answeredAt - requestedAt} ms`;
  return [
    ok("database", `PostgreSQL ${version} (${place}), ${how}`),
    clockFinding(serverTime, requestedAt, answeredAt),
    roomFinding(facts),
    ...(await contentFindings(environment, database, {
      inspect: () => processFindings(database),
      advice: "see the server's log",
    })),
  ];
}

/** The server read its clock between the request and the answer. */
function clockFinding(serverTime: number, requestedAt: number, answeredAt: number): Finding {
  const name = "database clock";
  const behind = Math.max(0, requestedAt - serverTime);
  const ahead = Math.max(0, serverTime - answeredAt);
  const difference = Math.max(behind, ahead);
  if (difference <= differenceMsMax) return ok(name, `${difference} ms from this machine's`);
  const detail = `${Math.round(difference / 1_000)} s ${ahead > 0 ? "ahead of" : "behind"} this machine's`;
  return warn(name, detail, "synchronize both clocks (NTP): budgets and leases depend on them");
}

function roomFinding(facts: Awaited<ReturnType<typeof postgresFacts>>): Finding {
  const { connections, connectionsMax, connectionsOfProcess } = facts;
  const detail = `${connections} of ${connectionsMax} connections are in use; a process may open ${connectionsOfProcess}`;
  if (connections + connectionsOfProcess <= connectionsMax) return ok("database room", detail);
  return warn("database room", detail, "raise max_connections, or lower pool_size in the address");
}

interface Inspection {
  /** Further checks of a database with a usable schema. */
  readonly inspect: () => Promise<readonly Finding[]>;
  /** For a database that cannot be read. */
  readonly advice: string;
}

/** Checks the schema and the master key, and closes the database. */
async function contentFindings(
  environment: Environment,
  database: Database,
  { inspect, advice }: Inspection,
): Promise<readonly Finding[]> {
  const name = "database schema";
  try {
    const { state, applied, pending, unknown } = await schemaState(database);
    const later = `migrated by a newer version (${unknown.join(", ")})`;
    if (state === "empty") return [ok(name, "will be created at the first start")];
    if (state === "newer") return [fail(name, later, "start that version, or restore an older backup")];
    const key = await keyFinding(environment, database);
    if (state === "behind") {
      return [warn(name, `migrations to run: ${pending.join(", ")}`, "run `sluice migrate`, or just start"), key];
    }
    const schema =
      state === "current"
        ? ok(name, applied.at(-1) ?? "")
        : warn(name, later, "upgrade this version soon; it works next to the newer one");
    return [schema, key, ...(await inspect())];
  } catch (thrown) {
    return [fail(name, failureLine(thrown), advice)];
  } finally {
    await database.close();
  }
}

async function keyFinding({ masterKey, dataDir }: Environment, database: Database): Promise<Finding> {
  const name = "master key fits";
  const isFile = database.flavour.name === "sqlite";
  if (isFile && masterKey === null && !existsSync(join(dataDir, "master.key"))) {
    const lost = "restore master.key from a backup: without it API keys and provider secrets cannot be read";
    return fail(name, "the database exists, but its key file is missing", lost);
  }
  try {
    if (!isFile && !(await hasVault(database))) return ok(name, "will be set at the first start");
    await openVaultOf(database, { masterKey: masterKey?.reveal() ?? null, dataDir, mayMakeKey: false });
    return ok(name, "matches the database");
  } catch (thrown) {
    return fail(name, failureLine(thrown), "restore the key, or set SLUICE_MASTER_KEY to it");
  }
}

/** One line per process. Killed ones are listed for a day. */
async function processFindings(database: Database): Promise<readonly Finding[]> {
  const listed = await listProcesses({ instances: createInstances(database), leases: createLeases(database) });
  if (listed.length === 0) return [ok("processes", "none is running on this database")];
  return listed.map((process) => {
    const { id, host, version, leads, journalLag } = process;
    const seen = `last seen ${timeOf(process.seenAt)}`;
    const parts = [
      `${id} on ${host}`,
      `version ${version}`,
      `since ${timeOf(process.startedAt)}`,
      process.isAlive ? seen : `${seen}, not responding`,
      leads.length === 0 ? "no leases" : `leases ${leads.join(" and ")}`,
      journalLag === null ? "journal unknown" : `${journalLag} journal entries not in the ledger yet`,
    ];
    return ok("process", parts.join("; "));
  });
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** Reads from the database without migrating it; null if there is none yet. */
export async function readDatabase<T>(
  environment: Environment,
  read: (database: Database) => Promise<T>,
): Promise<T | null> {
  const path = join(environment.dataDir, "sluice.db");
  const isFile = environment.databaseUrl === null;
  if (isFile && !existsSync(path)) return null;
  const database = isFile
    ? openDatabase({ path, create: false })
    : await openPlace(placeOf(environment), { isChecked: true, poolSize: 1 });
  try {
    return (await schemaState(database)).state === "empty" ? null : await read(database);
  } finally {
    await database.close();
  }
}
