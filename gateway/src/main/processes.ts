import { hostname } from "node:os";
import { createLeadership, createSoleLeadership } from "#coordination/index.ts";
import { bounds, repeat, shortRevision, sleep } from "#core/index.ts";
import type {
  Clock,
  HeldLease,
  Instance,
  InstanceStatus,
  Leadership,
  Lease,
  LeaseHolder,
  Leases,
  Observer,
} from "#ports/index.ts";
import { type Instances, openBroadcast } from "#storage/index.ts";
import { CannotStart, type Control } from "./control.ts";

interface ProcessesOptions {
  readonly control: Control;
  readonly version: string;
  readonly revision?: string;
}

/** What this process is to the others of its installation. */
export type Processes = Awaited<ReturnType<typeof openProcesses>>;

/**
 * Takes a place among the processes of the installation. On SQLite there is this one. On PostgreSQL each tells that it is there.
 */
export async function openProcesses(options: ProcessesOptions) {
  const { control } = options;
  const { clock, database, instanceId, instances, leases } = control;
  const instance: Instance = { id: instanceId, version: buildName(options), host: hostname() };
  let told: Pick<Observer, "log"> = { log: () => undefined };
  const observer: Pick<Observer, "log"> = { log: (...line) => told.log(...line) };
  let lag = (): number | undefined => undefined;
  const shared = { owner: instanceId, clock, observer };
  const broadcast = openBroadcast({ database, instanceId, clock, observer });
  const isSole = database.flavour.name === "sqlite";
  const leadership = isSole ? createSoleLeadership(shared) : createLeadership({ ...shared, leases });
  const tell = (): Promise<void> =>
    instances
      .tell(instance, lag())
      .catch((error: unknown) => observer.log("debug", "The database was not told of this process.", { error }));
  const stopTelling = isSole ? null : repeat(clock, bounds.instanceTellMs, tell);
  const close = async (): Promise<void> => {
    await leadership.close();
    if (stopTelling === null) return;
    await stopTelling();
    await instances.leave(instance.id).catch(() => undefined);
    await broadcast.close();
  };
  try {
    if (!isSole) await instances.tell(instance);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return {
    instance,
    leadership,
    broadcast,
    /** Where is told what happens from now on. */
    tellTo(next: Pick<Observer, "log">): void {
      told = next;
    },
    /** What is said of this process's journal from now on. */
    tellLag(read: () => number): void {
      lag = read;
    },
    close,
  };
}

/** `0.1.0+72c595dc1234`: SemVer has what was built behind a plus. */
function buildName({ version, revision = "unknown" }: Omit<ProcessesOptions, "control">): string {
  return revision === "unknown" ? version : `${version}+${shortRevision(revision)}`;
}

/** A process of the installation, with what it does for all. */
interface ListedProcess extends InstanceStatus {
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
  work: (lease: HeldLease) => Promise<Result>,
): Promise<Result> {
  const endMs = clock.monotonic() + bounds.startTurnMs;
  while (clock.monotonic() < endMs) {
    const done = await leadership.once(name, work);
    if (done !== null) return done.result;
    await sleep(clock, bounds.startTurnLookMs, null);
  }
  throw new CannotStart(`Another gateway has been at "${name}" for ${bounds.startTurnMs / 1_000} s; start again.`);
}

/** How often a process that starts looks whether the only one that was there is still alive. */
const onlyProcessLookMs = 500;

export interface OnlyProcessOptions {
  readonly leases: Leases;
  /** The id of this process. */
  readonly owner: string;
  readonly clock: Clock;
  /** Another process has taken the database while this one stood still or could not reach it. */
  readonly onTaken: (error: Error) => void;
}

/** The lease that a process has which counts limits in its own memory: a second one would admit them once more. */
const onlyProcessLease = "only-process";

/** One lease that all processes which count in Redis keep alive together. Nobody counts by itself beside them. */
const sharedLease = { name: "shared-processes", owner: "processes with SLUICE_REDIS_URL" } as const;

/**
 * Takes the database for this process alone, until the function that it gives is called. What a process left that was killed
 * lapses after a while, and is waited for. Throws CannotStart when another process is alive, however that one counts.
 */
export async function beOnlyProcess(options: OnlyProcessOptions): Promise<() => Promise<void>> {
  const { leases, owner, clock, onTaken } = options;
  let lease = await taken(options);
  try {
    await refuseBesideShared(options);
  } catch (thrown) {
    await leases.release(lease).catch(() => undefined);
    throw thrown;
  }
  const renew = async (): Promise<void> => {
    // Those begin only while nobody has the lease: this process stood still.
    if ((await leases.holder(sharedLease.name)) !== null) return onTaken(besideShared());
    if (await leases.renew(lease, bounds.leaseMs)) return;
    const again = await leases.take(onlyProcessLease, owner, bounds.leaseMs);
    if (again !== null) lease = again;
    else onTaken(await otherProcess(leases));
  };
  // A failed renewal is ignored: while the database is unreachable nobody else can get the lease, and its watcher logs that.
  const stop = repeat(clock, bounds.leaseMs / 3, renew);
  return async () => {
    await stop();
    await leases.release(lease).catch(() => undefined);
  };
}

export interface SharedProcessOptions extends Omit<OnlyProcessOptions, "onTaken"> {
  /** Whether others count in the same Redis now. */
  readonly hasOthers: () => Promise<boolean>;
}

/**
 * Takes a place among the processes that count together, until the function that it gives is called. Throws CannotStart beside one
 * that counts by itself.
 */
export async function beOneOfSeveral(options: SharedProcessOptions): Promise<() => Promise<void>> {
  const { leases, clock, hasOthers } = options;
  const { name, owner } = sharedLease;
  const tell = () => leases.take(name, owner, bounds.leaseMs);
  const refuseBesideOnly = async () => await leases.release(await taken(options));
  await refuseBesideOnly();
  await tell();
  // Once more: one that began between the two did not see this one.
  await refuseBesideOnly();
  const stop = repeat(clock, bounds.leaseMs / 3, async () => {
    if (!(await leases.extend(name, owner, bounds.leaseMs))) await tell();
  });
  return async () => {
    await stop();
    if (await hasOthers().catch(() => true)) return;
    // Whichever of them took it last: the taking of now is the one to be released.
    const lease = await tell().catch(() => null);
    if (lease !== null) await leases.release(lease).catch(() => undefined);
  };
}

async function taken(options: Omit<OnlyProcessOptions, "onTaken">): Promise<Lease> {
  const { leases, owner } = options;
  for (;;) {
    const lease = await leases.take(onlyProcessLease, owner, bounds.leaseMs);
    if (lease !== null) return lease;
    if (await isKeptAlive(options, onlyProcessLease)) throw await otherProcess(leases);
  }
}

async function refuseBesideShared(options: Omit<OnlyProcessOptions, "onTaken">): Promise<void> {
  if (await isKeptAlive(options, sharedLease.name)) throw besideShared();
}

/**
 * Waits until the lease is free, or renewed: who renews it is alive. Those that count together take the one of the only process for a
 * moment when they begin, one after the other: that is another taking, and no renewal.
 */
async function isKeptAlive({ leases, clock }: Omit<OnlyProcessOptions, "onTaken">, name: string): Promise<boolean> {
  let before: LeaseHolder | null = null;
  for (;;) {
    const holder = await leases.holder(name);
    if (holder === null) return false;
    const isSame = name === sharedLease.name || before?.fence === holder.fence;
    if (before !== null && isSame && holder.until > before.until) return true;
    before = holder;
    await sleep(clock, onlyProcessLookMs, null);
  }
}

async function otherProcess(leases: Leases): Promise<CannotStart> {
  const holder = await leases.holder(onlyProcessLease);
  return new CannotStart(
    `Another gateway${holder === null ? "" : ` (${holder.owner})`} uses this database and counts limits in its own memory. ` +
      "Several need SLUICE_REDIS_URL, each of them, so that they count together; or stop the other one.",
  );
}

function besideShared(): CannotStart {
  return new CannotStart(
    "Other gateways use this database and count limits in Redis. Give this one their SLUICE_REDIS_URL too, so that they count together; or stop them.",
  );
}
