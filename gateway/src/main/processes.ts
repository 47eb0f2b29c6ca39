import { hostname } from "node:os";
import { createLeadership, createSoleLeadership } from "#coordination/index.ts";
import { bounds, repeat, shortRevision, sleep } from "#core/index.ts";
import type {
  ActiveLease,
  Clock,
  Instance,
  InstanceStatus,
  Leadership,
  Lease,
  LeaseStatus,
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

/** The link to the other processes of the installation. */
export type Processes = Awaited<ReturnType<typeof openProcesses>>;

/** Registers this process. On PostgreSQL it sends heartbeats; on SQLite it is the only one. */
export async function openProcesses(options: ProcessesOptions) {
  const { control } = options;
  const { clock, database, instanceId, instances, leases } = control;
  const instance: Instance = { id: instanceId, version: buildName(options), host: hostname() };
  let target: Pick<Observer, "log"> = { log: () => undefined };
  const observer: Pick<Observer, "log"> = { log: (...line) => target.log(...line) };
  let lag = (): number | undefined => undefined;
  const shared = { owner: instanceId, clock, observer };
  const broadcast = openBroadcast({ database, instanceId, clock, observer });
  const isSole = database.flavour.name === "sqlite";
  const leadership = isSole ? createSoleLeadership(shared) : createLeadership({ ...shared, leases });
  const heartbeat = (): Promise<void> =>
    instances
      .report(instance, lag())
      .catch((error: unknown) => observer.log("debug", "heartbeat to the database failed", { error }));
  const stopHeartbeats = isSole ? null : repeat(clock, bounds.heartbeatMs, heartbeat);
  const close = async (): Promise<void> => {
    await leadership.close();
    if (stopHeartbeats === null) return;
    await stopHeartbeats();
    await instances.leave(instance.id).catch(() => undefined);
    await broadcast.close();
  };
  try {
    if (!isSole) await instances.report(instance);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return {
    instance,
    leadership,
    broadcast,
    setObserver(next: Pick<Observer, "log">): void {
      target = next;
    },
    /** Sets how the lag of the journal is read for heartbeats. */
    setLag(read: () => number): void {
      lag = read;
    },
    close,
  };
}

/** `0.1.0+72c595dc1234`, with SemVer build metadata. */
function buildName({ version, revision = "unknown" }: Omit<ProcessesOptions, "control">): string {
  return revision === "unknown" ? version : `${version}+${shortRevision(revision)}`;
}

interface ListedProcess extends InstanceStatus {
  /** Names of the leases that it holds: `ledger`, `config file` … */
  readonly leads: readonly string[];
}

/** The processes seen within a day, in the order of their starts. */
export async function listProcesses(control: {
  readonly instances: Pick<Instances, "list">;
  readonly leases: Pick<Leases, "list">;
}): Promise<readonly ListedProcess[]> {
  const [listed, leases] = await Promise.all([control.instances.list(), control.leases.list()]);
  // Leases on single answers do not describe the process.
  const roles = leases.filter(({ name }) => !name.startsWith("bill "));
  return listed.map((instance) => ({
    ...instance,
    leads: roles.filter(({ owner }) => owner === instance.id).map(({ name }) => name),
  }));
}

/** Runs `work` in one process at a time. Throws CannotStart if the turn does not come in time. */
export async function inTurn<Result>(
  { leadership, clock }: { readonly leadership: Leadership; readonly clock: Clock },
  name: string,
  work: (lease: ActiveLease) => Promise<Result>,
): Promise<Result> {
  const endMs = clock.monotonic() + bounds.startTurnMs;
  while (clock.monotonic() < endMs) {
    const done = await leadership.once(name, work);
    if (done !== null) return done.result;
    await sleep(clock, bounds.startTurnPollMs, null);
  }
  throw new CannotStart(
    `Timed out after ${bounds.startTurnMs / 1_000} s while another gateway is busy with "${name}"; start again.`,
  );
}

/** How often a starting process checks whether the current one is alive. */
const onlyProcessCheckMs = 500;

export interface OnlyProcessOptions {
  readonly leases: Leases;
  /** The id of this process. */
  readonly owner: string;
  readonly clock: Clock;
  /** Called when another process took over the database while this one was paused or disconnected. */
  readonly onTakenOver: (error: Error) => void;
}

/** Held by a process that counts limits in memory: a second one would admit the same limits again. */
const onlyProcessLease = "only-process";

/** Shared by all processes that count in Redis. None may count in memory at the same time. */
const sharedLease = { name: "shared-processes", owner: "processes with SLUICE_REDIS_URL" } as const;

/**
 * Reserves the database for this process, until the returned function is called. Waits for the lease of a killed process to expire.
 * Throws CannotStart if another process is alive.
 */
export async function reserveDatabase(options: OnlyProcessOptions): Promise<() => Promise<void>> {
  const { leases, owner, clock, onTakenOver } = options;
  let lease = await takeOnlyProcessLease(options);
  try {
    if (await isRenewed(options, sharedLease.name)) throw othersUseRedis();
  } catch (thrown) {
    await leases.release(lease).catch(() => undefined);
    throw thrown;
  }
  const renew = async (): Promise<void> => {
    // They start only while the lease is free, so this process was paused.
    if ((await leases.status(sharedLease.name)) !== null) return onTakenOver(othersUseRedis());
    if (await leases.renew(lease, bounds.leaseMs)) return;
    const retaken = await leases.acquire(onlyProcessLease, owner, bounds.leaseMs);
    if (retaken !== null) lease = retaken;
    else onTakenOver(await otherUsesMemory(leases));
  };
  // A failed renewal is ignored: while the database is down no other process can acquire the lease.
  const stop = repeat(clock, bounds.leaseMs / 3, renew);
  return async () => {
    await stop();
    await leases.release(lease).catch(() => undefined);
  };
}

export interface SharedProcessOptions extends Omit<OnlyProcessOptions, "onTakenOver"> {
  /** Whether other processes use the same Redis. */
  readonly hasOthers: () => Promise<boolean>;
}

/** Joins the processes that count in Redis, until the returned function is called. Throws CannotStart if one counts in memory. */
export async function joinSharedDatabase(options: SharedProcessOptions): Promise<() => Promise<void>> {
  const { leases, clock, hasOthers } = options;
  const { name, owner } = sharedLease;
  const take = () => leases.acquire(name, owner, bounds.leaseMs);
  const refuseIfMemoryIsUsed = async () => await leases.release(await takeOnlyProcessLease(options));
  await refuseIfMemoryIsUsed();
  await take();
  // Check again, because a process that started in between did not see this one.
  await refuseIfMemoryIsUsed();
  const stop = repeat(clock, bounds.leaseMs / 3, async () => {
    if (!(await leases.extend(name, owner, bounds.leaseMs))) await take();
  });
  return async () => {
    await stop();
    if (await hasOthers().catch(() => true)) return;
    // Only the lease acquired last can be released.
    const lease = await take().catch(() => null);
    if (lease !== null) await leases.release(lease).catch(() => undefined);
  };
}

async function takeOnlyProcessLease(options: Omit<OnlyProcessOptions, "onTakenOver">): Promise<Lease> {
  const { leases, owner } = options;
  for (;;) {
    const lease = await leases.acquire(onlyProcessLease, owner, bounds.leaseMs);
    if (lease !== null) return lease;
    if (await isRenewed(options, onlyProcessLease)) throw await otherUsesMemory(leases);
  }
}

/**
 * Waits until the lease is free (false) or renewed (true), which shows that its holder is alive. Starting processes take the lease of
 * the only process for a moment: that has another fence and is no renewal.
 */
async function isRenewed({ leases, clock }: Omit<OnlyProcessOptions, "onTakenOver">, name: string): Promise<boolean> {
  let before: LeaseStatus | null = null;
  for (;;) {
    const holder = await leases.status(name);
    if (holder === null) return false;
    const isSame = name === sharedLease.name || before?.fence === holder.fence;
    if (before !== null && isSame && holder.until > before.until) return true;
    before = holder;
    await sleep(clock, onlyProcessCheckMs, null);
  }
}

async function otherUsesMemory(leases: Leases): Promise<CannotStart> {
  const holder = await leases.status(onlyProcessLease);
  return new CannotStart(
    `Another gateway${holder === null ? "" : ` (${holder.owner})`} uses this database and counts limits in its own memory. ` +
      "Set SLUICE_REDIS_URL for all gateways so that they count together, or stop the other one.",
  );
}

function othersUseRedis(): CannotStart {
  return new CannotStart(
    "Other gateways use this database and count limits in Redis. Set the same SLUICE_REDIS_URL here, or stop them.",
  );
}
