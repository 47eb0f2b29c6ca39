import { bounds, LastingFault, Sleeper, within } from "#core/index.ts";
import type { ActiveLease, Candidacy, Clock, Leadership, Lease, Leases, Observer } from "#ports/index.ts";

/** How often a process without the lease checks whether it is free. */
export const leasePollMs = 5_000;

interface LeadershipOptions {
  readonly leases: Pick<Leases, "acquire" | "renew" | "release">;
  /** The id of this process. */
  readonly owner: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly leaseMs?: number;
}

/**
 * Leadership by leases in a database that several processes share.
 *
 * States of a lease that this process has acquired:
 * - held: renewed at each third of its time.
 * - lost: not renewed in time, acquired by another process, or given up. Its signal aborts, before the database gives it to others.
 * - ended: its work is done and the lease is released.
 */
export function createLeadership(options: LeadershipOptions): Leadership {
  const { clock, observer } = options;
  const candidacies = new Set<Candidacy>();
  const leases = new Set<RenewedLease>();
  let closed = false;

  const acquire = async (name: string): Promise<RenewedLease | null> => {
    const lease = await acquireLease(options, name);
    if (lease === null) return null;
    leases.add(lease);
    if (closed) lease.lose("the process ends");
    return lease;
  };
  const end = async (lease: RenewedLease): Promise<void> => {
    leases.delete(lease);
    await lease.end();
  };
  return {
    async once(name, work) {
      if (closed) return null;
      const lease = await acquire(name);
      if (lease === null) return null;
      try {
        return { result: await work(lease) };
      } finally {
        await end(lease);
      }
    },
    lead(name, work) {
      if (closed) return { isLeading: false, stop: async () => undefined };
      const sleeper = new Sleeper(clock);
      const fault = "background work failed; retrying";
      const failing = new LastingFault({ clock, observer, level: "error", fault, over: null });
      let stopped = false;
      let current: RenewedLease | null = null;

      /** Returns how long to wait before the next turn. */
      const turn = async (): Promise<number> => {
        const lease = await acquire(name).catch((error: unknown) => {
          observer.log("debug", "failed to acquire a lease; retrying", { lease: name, error });
          return null;
        });
        if (lease === null) return leasePollMs;
        if (stopped) lease.lose("the process ends");
        current = lease;
        observer.log("debug", "lease acquired", { lease: name, fence: lease.fence });
        try {
          if (lease.isHeld) await work(lease);
          failing.succeeded();
        } catch (error) {
          // A failure after the lease was lost does not matter.
          if (lease.isHeld) failing.failed({ lease: name, error });
        } finally {
          current = null;
          await end(lease);
        }
        return bounds.leaseRestMs;
      };
      const run = async (): Promise<void> => {
        while (!stopped) {
          const waitMs = await turn();
          if (!stopped) await sleeper.sleep(waitMs);
        }
        candidacies.delete(candidacy);
      };
      const candidacy: Candidacy = {
        get isLeading() {
          return current?.isHeld === true;
        },
        async stop() {
          stopped = true;
          current?.lose("it is given up");
          sleeper.end();
          await running;
        },
      };
      candidacies.add(candidacy);
      const running = run();
      return candidacy;
    },
    async close() {
      closed = true;
      // `once` work ends by its signal; its caller waits for it.
      for (const lease of leases) lease.lose("the process ends");
      await Promise.all([...candidacies].map((candidacy) => candidacy.stop()));
    },
  };
}

/** Leadership in an installation of one process, without a database. Work of one name is still done once at a time. */
export function createSoleLeadership(options: Omit<LeadershipOptions, "leases" | "leaseMs">): Leadership {
  const held = new Set<string>();
  let fence = 0;
  const leases: LeadershipOptions["leases"] = {
    async acquire(name, owner) {
      if (held.has(name)) return null;
      held.add(name);
      return { name, owner, fence: ++fence };
    },
    renew: async () => true,
    release: async ({ name }) => void held.delete(name),
  };
  return createLeadership({ ...options, leases, leaseMs: Number.POSITIVE_INFINITY });
}

/** The time of the lease counts from before the request, which is before the database begins to count. */
async function acquireLease(options: LeadershipOptions, name: string): Promise<RenewedLease | null> {
  const { leases, owner, clock, leaseMs = bounds.leaseMs } = options;
  const requestedMs = clock.monotonic();
  const answer = leases.acquire(name, owner, leaseMs);
  let late = false;
  // A lease that arrives after the timeout is released.
  void answer
    .then(
      (lease) => (late && lease !== null ? leases.release(lease) : undefined),
      () => undefined,
    )
    .catch(() => undefined);
  const lease: Lease | null = await leaseAnswer(clock, answer).catch((error: unknown) => {
    late = true;
    throw error;
  });
  return lease === null ? null : new RenewedLease({ ...options, leaseMs }, lease, requestedMs);
}

/** Timeout of a request about a lease. */
export const leaseAnswerMs = 4_000;
/** The holder stops this long before its lease ends: clocks differ, and work needs time to stop. */
export const leaseMarginMs = 2_000;

interface RenewedLeaseOptions {
  readonly leases: LeadershipOptions["leases"];
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** Infinite: it is never renewed. */
  readonly leaseMs: number;
}

class RenewedLease implements ActiveLease {
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
  readonly #options: RenewedLeaseOptions;
  readonly #lost = new AbortController();
  #heldUntilMs: number;
  #stopRenewal: () => void = () => {};
  #stopExpiry: () => void = () => {};
  #ended = false;

  constructor(options: RenewedLeaseOptions, { name, owner, fence }: Lease, requestedMs: number) {
    this.name = name;
    this.owner = owner;
    this.fence = fence;
    this.#options = options;
    this.#heldUntilMs = requestedMs + this.#heldForMs;
    if (options.leaseMs === Number.POSITIVE_INFINITY) return;
    this.#scheduleExpiry();
    this.#scheduleRenewal();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get isHeld(): boolean {
    if (this.#lost.signal.aborted) return false;
    if (this.#options.clock.monotonic() < this.#heldUntilMs) return true;
    this.lose("it was not renewed in time");
    return false;
  }

  lose(why: string): void {
    this.#stopRenewal();
    this.#stopExpiry();
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(new Error(`The lease ${this.name} is no longer held: ${why}.`));
  }

  /** Releases the lease; if that fails, it lapses. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.lose("its work has ended");
    const { leases, clock } = this.#options;
    await leaseAnswer(clock, leases.release(this)).catch(() => undefined);
  }

  get #heldForMs(): number {
    const { leaseMs } = this.#options;
    return Math.max(leaseMs - leaseMarginMs, leaseMs / 2);
  }

  #scheduleRenewal(): void {
    const { clock, leaseMs } = this.#options;
    this.#stopRenewal = clock.after(leaseMs / 3, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { leases, clock, observer, leaseMs } = this.#options;
    const requestedMs = clock.monotonic();
    // The database may still consider it held, but its work may have been aborted.
    if (!this.isHeld) return;
    // Scheduled before the answer, so that a missing answer is followed by another try.
    this.#scheduleRenewal();
    try {
      const isRenewed = await leaseAnswer(clock, leases.renew(this, leaseMs));
      if (!isRenewed) {
        if (this.isHeld) observer.log("warn", "lease lost to another process", { lease: this.name });
        this.lose("another process has it");
      } else if (this.isHeld) {
        this.#heldUntilMs = Math.max(this.#heldUntilMs, requestedMs + this.#heldForMs);
        this.#scheduleExpiry();
      }
    } catch (error) {
      observer.log("debug", "failed to renew a lease; retrying", { lease: this.name, error });
    }
  }

  #scheduleExpiry(): void {
    const { clock, observer } = this.#options;
    this.#stopExpiry();
    this.#stopExpiry = clock.after(this.#heldUntilMs - clock.monotonic(), () => {
      if (this.#lost.signal.aborted) return;
      observer.log("warn", "lease not renewed in time; stopping its work", { lease: this.name });
      this.lose("it was not renewed in time");
    });
  }
}

function leaseAnswer<Result>(clock: Clock, answer: Promise<Result>): Promise<Result> {
  return within(clock, leaseAnswerMs, answer, () => {
    throw new Error(`The database did not answer within ${leaseAnswerMs} ms.`);
  });
}
