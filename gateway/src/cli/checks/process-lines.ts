import { listProcesses } from "#main.ts";
import { createInstances, createLeases, type Database } from "#storage/index.ts";
import { type Finding, ok } from "./finding.ts";

/** A line for each process of the installation. Those that were killed are listed for a day. */
export async function processFindings(database: Database): Promise<readonly Finding[]> {
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
