import { bounds, sleep } from "#core/index.ts";
import type { Clock, Lease, LeaseHolder, Leases } from "#ports/index.ts";
import { CannotStart } from "./cannot-start.ts";

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
  const stop = repeatedly(clock, renew);
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
  const stop = repeatedly(clock, async () => {
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

/** At each third of a lease, one after the other. Resolves, when it is stopped, after the one under way. */
function repeatedly(clock: Clock, renew: () => Promise<void>): () => Promise<void> {
  let ended = false;
  let unbook = (): void => undefined;
  let renewing: Promise<void> = Promise.resolve();
  const later = (): void => {
    if (ended) return;
    unbook = clock.after(bounds.leaseMs / 3, () => {
      // A database that is away gives the lease to nobody, and whoever watches it tells of that.
      renewing = renew()
        .catch(() => undefined)
        .finally(later);
    });
  };
  later();
  return async () => {
    ended = true;
    unbook();
    await renewing;
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
