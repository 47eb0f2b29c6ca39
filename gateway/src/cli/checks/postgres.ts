import type { Environment } from "#config/index.ts";
import { placeOf } from "#main.ts";
import type { Clock } from "#ports/index.ts";
import { closeDatabase, hasVault, openPlace, openVaultOf, postgresFacts, schemaState } from "#storage/index.ts";
import { failureLine } from "../failure-line.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { processFindings } from "./process-lines.ts";

/** Budgets begin and keys expire by the processes' clocks, leases by the server's. */
const differenceMsMax = 10_000;
/** What a process may open: for writing, reading, reports, the drain and explanations, at the usual size of a pool. */
const connectionsOfProcess = 17;

/** The server can be used, its clock is ours, there is room on it, its schema is of this version, and the master key fits. */
export async function postgresFindings(
  environment: Environment,
  url: string,
  clock: Clock,
): Promise<readonly Finding[]> {
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
          : warn("database schema", `migrations to run: ${pending.join(", ")}`, "run `sluice migrate`, or just start");
    const key = await keyFinding(environment, database);
    return [schema, key, ...(state === "current" || state === "ahead" ? await processFindings(database) : [])];
  } catch (thrown) {
    return [fail("database schema", failureLine(thrown), "see the server's log")];
  } finally {
    await closeDatabase(database);
  }
}

function laterVersion(unknown: readonly string[]): string {
  return `a later version has been here (${unknown.join(", ")})`;
}

async function keyFinding(
  { masterKey, dataDir }: Environment,
  database: Awaited<ReturnType<typeof openPlace>>,
): Promise<Finding> {
  const name = "master key fits";
  try {
    if (!(await hasVault(database))) return ok(name, "the first start decides on it");
    await openVaultOf(database, { masterKey: masterKey?.reveal() ?? null, dataDir, mayMakeKey: false });
    return ok(name, "the database was made with it");
  } catch (thrown) {
    return fail(name, failureLine(thrown), "bring back the key, or set SLUICE_MASTER_KEY to it");
  }
}
