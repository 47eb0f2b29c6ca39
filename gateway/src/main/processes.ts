import { hostname } from "node:os";
import { createLeadership, createSoleLeadership } from "#coordination/index.ts";
import { bounds, shortRevision, sleep } from "#core/index.ts";
import type {
  Broadcast,
  Clock,
  Instance,
  KeptLease,
  Leadership,
  Leases,
  Observer,
  SeenInstance,
} from "#ports/index.ts";
import { type Instances, openBroadcast } from "#storage/index.ts";
import { CannotStart } from "./cannot-start.ts";
import type { Control } from "./control.ts";

interface ProcessesOptions {
  readonly control: Control;
  readonly version: string;
  readonly revision?: string;
}

/** What this process is to the others of its installation. */
export interface Processes {
  readonly instance: Instance;
  readonly leadership: Leadership;
  readonly broadcast: Broadcast;
  /** Where is told what happens from now on. */
  tellTo(observer: Observer): void;
  /** What is said of this process's journal from now on. */
  tellLag(read: () => number): void;
  close(): Promise<void>;
}

/**
 * Takes a place among the processes of the installation. On SQLite there is this one. On PostgreSQL each tells that it is there.
 */
export async function openProcesses(options: ProcessesOptions): Promise<Processes> {
  const { control } = options;
  const { clock, database, instanceId, instances, leases } = control;
  const instance: Instance = { id: instanceId, version: buildName(options), host: hostname() };
  let observer: Pick<Observer, "log"> = { log: () => undefined };
  const told = { log: (...line: Parameters<Observer["log"]>) => observer.log(...line) };
  const tellTo = (next: Observer): void => {
    observer = next;
  };
  let lag = (): number | undefined => undefined;
  const tellLag = (read: () => number): void => {
    lag = read;
  };
  const shared = { owner: instanceId, clock, observer: told };
  const broadcast = openBroadcast({ database, instanceId, clock, observer: told });
  if (database.flavour.name === "sqlite") {
    const leadership = createSoleLeadership(shared);
    return {
      instance,
      leadership,
      broadcast,
      tellTo,
      tellLag,
      close: () => leadership.close(),
    };
  }
  const leadership = createLeadership({ ...shared, leases });
  const stopTelling = tellNowAndThen(options, instance, { observer: told, lag: () => lag() });
  const close = async (): Promise<void> => {
    await leadership.close();
    await stopTelling();
    await broadcast.close();
  };
  try {
    await instances.tell(instance);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { instance, leadership, broadcast, tellTo, tellLag, close };
}

/** `0.1.0+72c595dc1234`: SemVer has what was built behind a plus. */
function buildName({ version, revision = "unknown" }: Omit<ProcessesOptions, "control">): string {
  return revision === "unknown" ? version : `${version}+${shortRevision(revision)}`;
}

function tellNowAndThen(
  { control: { clock, instances } }: ProcessesOptions,
  instance: Instance,
  { observer, lag }: { readonly observer: Pick<Observer, "log">; readonly lag: () => number | undefined },
): () => Promise<void> {
  let stopped = false;
  let unbook = (): void => undefined;
  const later = (): void => {
    if (!stopped) unbook = clock.after(bounds.instanceTellMs, () => void tell());
  };
  const tell = async (): Promise<void> => {
    await instances
      .tell(instance, lag())
      .catch((error: unknown) => observer.log("debug", "The database was not told of this process.", { error }));
    later();
  };
  later();
  return async () => {
    stopped = true;
    unbook();
    await instances.leave(instance.id).catch(() => undefined);
  };
}

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

/** Does at a start what each process does, one after the other. Waits for its turn, but not for ever. */
export async function inTurn<Result>(
  { leadership, clock }: { readonly leadership: Leadership; readonly clock: Clock },
  name: string,
  work: (lease: KeptLease) => Promise<Result>,
): Promise<Result> {
  const endMs = clock.monotonic() + bounds.startTurnMs;
  while (clock.monotonic() < endMs) {
    const done = await leadership.once(name, work);
    if (done !== null) return done.result;
    await sleep(clock, bounds.startTurnLookMs, null);
  }
  throw new CannotStart(`Another gateway has been at "${name}" for ${bounds.startTurnMs / 1_000} s; start again.`);
}
