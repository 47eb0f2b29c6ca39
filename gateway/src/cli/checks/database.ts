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

/** `sluice doctor` compares every index with its table up to this size; beyond, it checks pages only. */
const doctorWholeCheckBytesMax = 1024 * 1024 * 1024;

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
    if (state === "newer") {
      const advice = "start that version, or restore a backup from before it";
      return [fail("database", laterVersion(unknown), advice)];
    }
    if (state === "empty" || state === "behind") return [behind("database", pending)];
    return [
      await soundness(database, path),
      state === "ahead"
        ? warn("database", `${laterVersion(unknown)} and has only added to it`, "start that version when you can")
        : ok("database", `schema ${applied.at(-1) ?? "empty"}`),
      await keyFinding(environment, database, "start with the key that belongs to this database"),
    ];
  } catch (thrown) {
    return [fail("database", failureLine(thrown), "restore a backup")];
  } finally {
    await database.close();
  }
};

/** All of it, which takes as long as the file is large. */
async function soundness(database: Database, path: string): Promise<Finding> {
  const name = "database pages";
  const depth = (await stat(path)).size > doctorWholeCheckBytesMax ? "quick" : "whole";
  const [fault] = await integrityFaults(database.kysely, depth);
  if (fault === undefined) return ok(name, depth === "whole" ? "sound, indexes too" : "sound");
  return fail(name, `damaged: ${fault}`, "stop the gateway and restore a backup (sluice restore <file>)");
}

/** Budgets begin and keys expire by the processes' clocks, leases by the server's. */
const differenceMsMax = 10_000;
/** What a process may open: for writing, reading, reports, the drain and explanations, at the usual size of a pool. */
const connectionsOfProcess = 17;

/** The server can be used, its clock is ours, there is room on it, its schema is of this version, and the master key fits. */
async function postgresFindings(environment: Environment, url: string, clock: Clock): Promise<readonly Finding[]> {
  const askedAt = clock.now();
  let facts: Awaited<ReturnType<typeof postgresFacts>>;
  try {
    facts = await postgresFacts(url);
  } catch (thrown) {
    return [fail("database", failureLine(thrown), "see SLUICE_DATABASE_URL; no start is possible before that")];
  }
  const answeredAt = clock.now();
  const { version, place, encrypted, serverTime, connections, connectionsMax } = facts;
  const how = `${encrypted ? "encrypted" : "not encrypted"}, ${answeredAt - askedAt} ms`;
  return [
    ok("database", `PostgreSQL ${version} (${place}), ${how}`),
    clockFinding(serverTime, askedAt, answeredAt),
    roomFinding(connections, connectionsMax),
    ...(await contentFindings(environment)),
  ];
}

/** As far as it can be told: the server's answer came somewhere between the question and the answer. */
function clockFinding(serverTime: number, askedAt: number, answeredAt: number): Finding {
  const name = "database clock";
  const behind = Math.max(0, askedAt - serverTime);
  const ahead = Math.max(0, serverTime - answeredAt);
  const difference = Math.max(behind, ahead);
  if (difference <= differenceMsMax) return ok(name, `${difference} ms from this machine's`);
  const detail = `${Math.round(difference / 1_000)} s ${ahead > 0 ? "ahead of" : "behind"} this machine's`;
  return warn(name, detail, "set both clocks (NTP): budgets and leases go by them");
}

function roomFinding(connections: number, connectionsMax: number): Finding {
  const detail = `${connections} of ${connectionsMax} connections are in use`;
  if (connections + connectionsOfProcess <= connectionsMax) return ok("database room", detail);
  const advice = `a process may open ${connectionsOfProcess}: raise max_connections, or lower pool_size in the address`;
  return warn("database room", detail, advice);
}

async function contentFindings(environment: Environment): Promise<readonly Finding[]> {
  const database = await openPlace(placeOf(environment), { isChecked: true, poolSize: 1 });
  try {
    const { state, applied, pending, unknown } = await schemaState(database);
    if (state === "empty") return [ok("database schema", "will be made at the first start")];
    if (state === "newer") {
      return [fail("database schema", laterVersion(unknown), "start that version: this one does not work on it")];
    }
    const schema =
      state === "current"
        ? ok("database schema", applied.at(-1) ?? "")
        : state === "ahead"
          ? warn("database schema", laterVersion(unknown), "replace this version soon; it works beside the later one")
          : behind("database schema", pending);
    const key = await keyFinding(environment, database, "bring back the key, or set SLUICE_MASTER_KEY to it");
    return [schema, key, ...(state === "current" || state === "ahead" ? await processFindings(database) : [])];
  } catch (thrown) {
    return [fail("database schema", failureLine(thrown), "see the server's log")];
  } finally {
    await database.close();
  }
}

function laterVersion(unknown: readonly string[]): string {
  return `a later version has been here (${unknown.join(", ")})`;
}

function behind(name: string, pending: readonly string[]): Finding {
  return warn(name, `migrations to run: ${pending.join(", ")}`, "run `sluice migrate`, or just start");
}

async function keyFinding({ masterKey, dataDir }: Environment, database: Database, advice: string): Promise<Finding> {
  const name = "master key fits";
  const isFile = database.flavour.name === "sqlite";
  if (isFile && masterKey === null && !existsSync(join(dataDir, "master.key"))) {
    const lost = "restore master.key from a backup: without it no key is known and no provider secret can be opened";
    return fail(name, "the database is there, its key file is not", lost);
  }
  try {
    if (!isFile && !(await hasVault(database))) return ok(name, "the first start decides on it");
    await openVaultOf(database, { masterKey: masterKey?.reveal() ?? null, dataDir, mayMakeKey: false });
    return ok(name, "the database was made with it");
  } catch (thrown) {
    return fail(name, failureLine(thrown), advice);
  }
}

/** A line for each process of the installation. Those that were killed are listed for a day. */
async function processFindings(database: Database): Promise<readonly Finding[]> {
  const listed = await listProcesses({ instances: createInstances(database), leases: createLeases(database) });
  if (listed.length === 0) return [ok("processes", "none runs on this database")];
  return listed.map((process) => {
    const { id, host, version, leads, journalLag } = process;
    const seen = `last seen ${timeOf(process.seenAt)}`;
    const parts = [
      `${id} on ${host}`,
      `version ${version}`,
      `since ${timeOf(process.startedAt)}`,
      process.isAlive ? seen : `${seen}, not heard of since`,
      leads.length === 0 ? "leads nothing" : `leads ${leads.join(" and ")}`,
      journalLag === null ? "journal unknown" : `${journalLag} entries of its journal not in the ledger yet`,
    ];
    return ok("process", parts.join("; "));
  });
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** Reads from the database without a migration; null where there is none yet. */
export async function lookAtDatabase<T>(
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
