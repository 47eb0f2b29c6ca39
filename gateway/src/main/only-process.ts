import { bounds } from "#core/index.ts";
import type { Clock, Lease, Leases } from "#ports/index.ts";
import { CannotStart } from "./cannot-start.ts";

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

/**
 * Takes the database for this process alone, until the function that it gives is called. What a process left that was killed
 * lapses after a while, and is waited for. Throws CannotStart when another process is alive.
 */
export async function beOnlyProcess(options: OnlyProcessOptions): Promise<() => Promise<void>> {
  const { leases, owner, clock, onTaken } = options;
  let lease = await taken(options);
  let ended = false;
  let unbook = (): void => undefined;
  let renewing: Promise<void> = Promise.resolve();
  const renewLater = (): void => {
    if (!ended) {
      unbook = clock.after(bounds.leaseMs / 3, () => {
        renewing = renew().finally(renewLater);
      });
    }
  };
  const renew = async (): Promise<void> => {
    try {
      if (await leases.renew(lease, bounds.leaseMs)) return;
      const again = await leases.take(onlyProcessLease, owner, bounds.leaseMs);
      if (again !== null) lease = again;
      else onTaken(await otherProcess(leases));
    } catch {
      // A database that is away gives the lease to nobody, and whoever watches it tells of that.
    }
  };
  renewLater();
  return async () => {
    if (ended) return;
    ended = true;
    unbook();
    await renewing;
    await leases.release(lease).catch(() => undefined);
  };
}

async function taken({ leases, owner, clock }: Omit<OnlyProcessOptions, "onTaken">): Promise<Lease> {
  let until: number | null = null;
  for (;;) {
    const lease = await leases.take(onlyProcessLease, owner, bounds.leaseMs);
    if (lease !== null) return lease;
    const holder = await leases.holder(onlyProcessLease);
    // Who renews it is alive.
    if (holder !== null && until !== null && holder.until > until) throw await otherProcess(leases);
    until = holder?.until ?? null;
    await new Promise<void>((resolve) => void clock.after(bounds.onlyProcessLookMs, resolve));
  }
}

/** Processes that count together do not begin beside one that counts by itself: throws CannotStart. */
export async function refuseBesideOnlyProcess(options: Omit<OnlyProcessOptions, "onTaken">): Promise<void> {
  await options.leases.release(await taken(options));
}

async function otherProcess(leases: Leases): Promise<CannotStart> {
  const holder = await leases.holder(onlyProcessLease);
  return new CannotStart(
    `Another gateway${holder === null ? "" : ` (${holder.owner})`} uses this database and counts limits in its own memory. ` +
      "Several need SLUICE_REDIS_URL, each of them, so that they count together; or stop the other one.",
  );
}
