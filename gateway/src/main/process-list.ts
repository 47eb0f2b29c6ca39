import type { Instances, Leases, SeenInstance } from "#ports/index.ts";

/** A process of the installation, with what it does for all. */
interface ListedProcess extends SeenInstance {
  /** Names of the leases that it has: `ledger`, `config file` … */
  readonly leads: readonly string[];
}

/** The processes that the database has seen within a day, in the order of their starts. */
export async function listProcesses(control: {
  readonly instances: Pick<Instances, "list">;
  readonly leases: Pick<Leases, "held">;
}): Promise<readonly ListedProcess[]> {
  const [seen, held] = await Promise.all([control.instances.list(), control.leases.held()]);
  // Leases of one answer that is paid for say nothing of their holder.
  const leading = held.filter(({ name }) => !name.startsWith("bill "));
  return seen.map((instance) => ({
    ...instance,
    leads: leading.filter(({ owner }) => owner === instance.id).map(({ name }) => name),
  }));
}
